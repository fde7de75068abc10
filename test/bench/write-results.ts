/** Where results go: always to `dist/bench/`, and into the tree when they are meant to be quoted. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { drawResults } from "./picture.ts";
import { replaceBlock } from "./readme-block.ts";
import { formatResults, parseResults } from "./results.ts";
import type { Results } from "./results.ts";

const projectFolder = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));

export function writeResults(results: Results, { isForTheTree }: { readonly isForTheTree: boolean }): void {
  writeTo(join(projectFolder, "dist", "bench"), results);
  if (!isForTheTree) return;
  writeTo(join(projectFolder, "test", "bench", "results"), results);
  const readme = join(projectFolder, "README.md");
  writeFileSync(readme, replaceBlock(readFileSync(readme, "utf8"), parseResults(formatResults(results))));
}

function writeTo(folder: string, results: Results): void {
  mkdirSync(folder, { recursive: true });
  const text = formatResults(results);
  writeFileSync(join(folder, "bench.json"), text);
  // From what the file says, so that anybody can draw it again.
  writeFileSync(join(folder, "bench.svg"), drawResults(parseResults(text)));
}
