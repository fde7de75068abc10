import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

/** The files of the project, from its folder, as they are or are about to be committed. */
export const trackedFiles: readonly string[] = execFileSync(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard"],
  { cwd: projectFolder, encoding: "utf8" },
)
  .trim()
  .split("\n");

export function textOf(file: string): string {
  return readFileSync(join(projectFolder, file), "utf8");
}

/** The files that a path of the documents means: a file, a folder that ends with a slash, or names with `*` in them. */
export function filesAt(pattern: string): string[] {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll("*", "[^/]*");
  const matching = new RegExp(`^${escaped}${pattern.endsWith("/") ? "" : "(/.*)?$"}`);
  return trackedFiles.filter((file) => matching.test(file));
}
