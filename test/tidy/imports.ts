/** The imports of all files that git tracks or would add. */
import { dirname, join, normalize } from "node:path";

import { textOf, trackedFiles } from "../documents/tracked-files.ts";
import type { Arrow } from "./circles.ts";

export { textOf, trackedFiles as tracked } from "../documents/tracked-files.ts";
export const sources: string[] = trackedFiles.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));

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
