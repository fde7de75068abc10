import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("filling-process.js", import.meta.url));

/** Prints what 1,000 upserts of one user leave on the disk: of each build, in KB. */
export function printBytes(builds: readonly (readonly [name: string, build: string])[], folder: string): void {
  console.log("\n**1,000 upserts on the disk, in KB**\n");
  console.log("| | entries and index | history | other files of the host |");
  console.log("|---|---|---|---|");
  for (const [name, build] of builds) {
    const dataDir = join(folder, `${name}-filled`);
    execFileSync(process.execPath, ["--disable-warning=ExperimentalWarning", program, build, dataDir]);
    const bytes = { entries: 0, history: 0, others: 0 };
    for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      bytes[kindOf(relative(dataDir, path))] += lstatSync(path).size;
    }
    const cells = [bytes.entries, bytes.history, bytes.others].map((each) => (each / 1000).toFixed(0));
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
}

function kindOf(path: string): "entries" | "history" | "others" {
  if (path.includes("/.memcell/history/")) return "history";
  return path.endsWith(".md") ? "entries" : "others";
}
