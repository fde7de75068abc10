/** The imports of all files that git tracks or would add. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

import type { Arrow } from "./circles.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
export const tracked: string[] = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: projectFolder,
  encoding: "utf8",
})
  .trim()
  .split("\n");
export const sources: string[] = tracked.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
export const textOf = (file: string): string => readFileSync(join(projectFolder, file), "utf8");

/** `to` is a path relative to the project's folder, or a package's name. */
export const imports: Arrow[] = sources.flatMap((from) =>
  Array.from(
    textOf(from).matchAll(/^(?:import|export)\s[^;]*?from "([^"]+)";|^import "([^"]+)";|\bimport\("([^"]+)"\)/gm),
    (found) => {
      const specifier = found[1] ?? found[2] ?? found[3] ?? "";
      return { from, to: specifier.startsWith(".") ? normalize(join(dirname(from), specifier)) : specifier };
    },
  ),
);
