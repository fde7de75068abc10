/** A copy of the project in another place, as `git clone` and `npm ci` would create it. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

/** Copies tracked files and those that would be tracked. */
export function copyClone(to: string): void {
  const listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const files = execFileSync("git", listing, { cwd: projectFolder, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const file of files) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(projectFolder, file), join(to, file));
  }
  linkPackages(to);
}

/** Copies the files that the package ships, but for its documents, and the clone's own `package.json`. */
export function copyPackage(to: string): void {
  const { files } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")) as { files: string[] };
  const named = files.filter((file) => !/[*{]/.test(file));
  for (const file of [...named, "package.json"]) cpSync(join(projectFolder, file), join(to, file), { recursive: true });
  symlinkSync(join(projectFolder, "node_modules"), join(to, "node_modules"));
}

export function copyFromProject(to: string, paths: readonly string[]): void {
  for (const path of paths) cpSync(join(projectFolder, path), join(to, path), { recursive: true });
}

/** Packages with code in the plugins must be copied, because their paths count. The others can be links. */
const copied = new Set(["@noble", "gray-matter", "js-yaml", "lossless-json", "strip-bom-string", "zod"]);

/** A third of zod that no build reads. */
const unused = /[\\/]zod[\\/]src$/;

function linkPackages(to: string): void {
  const packages = join(projectFolder, "node_modules");
  mkdirSync(join(to, "node_modules"));
  for (const name of readdirSync(packages)) {
    const place = join(to, "node_modules", name);
    if (copied.has(name))
      cpSync(join(packages, name), place, { recursive: true, filter: (from) => !unused.test(from) });
    else symlinkSync(join(packages, name), place);
  }
}
