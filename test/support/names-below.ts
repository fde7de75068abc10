import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The relative names of everything below a folder. Follows no link, which readdir's own recursion does from Node 22 on. */
export function namesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const below = entry.isDirectory() ? namesBelow(join(folder, entry.name)) : [];
    return [entry.name].concat(below.map((name) => join(entry.name, name)));
  });
}
