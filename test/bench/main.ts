/**
 * `npm run bench`: measures memcell against the naive way and against peers, and prints the results.
 *
 * usage: node dist/test/bench/main.js [--only 1,3] [--rounds N] [--quick] [--write]
 *
 *   --only    sections to run: 1 durable upsert, 2 sandbox, 3 throughput, 4 growth, 5 cold start, 6 recovery,
 *             7 journal, 8 history of runs, 9 stores
 *   --rounds  the number of rounds that count (10, or 3 with --quick)
 *   --quick   under a minute: shows that everything runs; do not quote it
 *   --write   store the results also in test/bench/results/ and in both READMEs, not only in dist/bench/. Needs all
 *             sections, because quotes must come from one run.
 */
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fileSystemOf, machine } from "./machine.ts";
import { NoiseProbe } from "./noise.ts";
import { parseBenchOptions } from "./options.ts";
import { printNoise, printSection } from "./print-results.ts";
import type { Results } from "./results.ts";
import { sections } from "./sections.ts";
import { writeResults } from "./write-results.ts";

const options = parseBenchOptions(process.argv.slice(2));
using folder = temporaryFolder();
using noise = new NoiseProbe(folder.path);
const run = { rounds: options.rounds, isQuick: options.isQuick, folder: folder.path, noise };

const measured: Results["sections"] = [];
for (const [number, measure] of sections) {
  if (!options.only.includes(number)) continue;
  const startMs = performance.now();
  const section = await measure(run);
  measured.push(section);
  printSection(section);
  console.log(`\n(${((performance.now() - startMs) / 1000).toFixed(0)} s)`);
}

const results: Results = {
  effort: options.isQuick ? "quick" : "full",
  rounds: options.rounds,
  machine: { ...machine(), fileSystem: fileSystemOf(folder.path) },
  noise: noise.found(),
  sections: measured,
};
printNoise(results);
writeResults(results, { isForTheTree: options.write });
