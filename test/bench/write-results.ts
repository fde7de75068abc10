/** Writes results to `dist/bench/`, and into the tree if they are to be quoted. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { drawResults } from "./picture.ts";
import { costLine, costTable, replaceQuote } from "./quoted-results.ts";
import { formatResults, parseResults } from "./results.ts";
import type { Results } from "./results.ts";

const projectFolder = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));

export function writeResults(results: Results, { isForTheTree }: { readonly isForTheTree: boolean }): void {
  writeTo(join(projectFolder, "dist", "bench"), results);
  if (!isForTheTree) return;
  writeTo(join(projectFolder, "test", "bench", "results"), results);
  const written = parseResults(formatResults(results));
  quote("README.md", costLine(written));
  quote("test/bench/README.md", costTable(written));
}

function quote(document: string, text: string): void {
  const file = join(projectFolder, document);
  writeFileSync(file, replaceQuote(readFileSync(file, "utf8"), text));
}

function writeTo(folder: string, results: Results): void {
  mkdirSync(folder, { recursive: true });
  const text = formatResults(results);
  writeFileSync(join(folder, "bench.json"), text);
  // Drawn from the file's text, so that anyone can draw it again.
  writeFileSync(join(folder, "bench.svg"), drawResults(parseResults(text)));
}
