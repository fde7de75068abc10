import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

/** Packs the project as `npm publish` would, into a folder that exists, and unpacks it to another, which is made. */
export function unpackPackage(folder: string, to: string): void {
  const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
  const tarball = execFileSync("npm", args, { cwd: projectFolder, encoding: "utf8" }).trim();
  mkdirSync(to, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", to, "--strip-components=1"]);
}
