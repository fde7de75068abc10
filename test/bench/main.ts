/**
 * `npm run bench`: measures memcell against the naive way and against peers, and prints the results.
 *
 * usage: node dist/test/bench/main.js [--only 1,3] [--rounds N] [--quick] [--write]
 *
 *   --only    sections to run, by the numbers in README.md
 *   --rounds  the number of rounds that count (10, or 3 with --quick)
 *   --quick   under a minute: shows that everything runs; do not quote it
 *   --write   store the results also in test/bench/results/ and in both READMEs, not only in dist/bench/. Needs all
 *             sections, because quotes must come from one run.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { measureCancelling } from "./cancelling.ts";
import { measureCold } from "./cold/section.ts";
import { measureDurable } from "./durable/section.ts";
import { measureGrowth } from "./growth.ts";
import { machine, NoiseProbe } from "./machine.ts";
import { drawResults } from "./picture.ts";
import { printNoise, printSection } from "./print-results.ts";
import { costLine, costTable, replaceQuote } from "./quoted-results.ts";
import { formatResults, parseResults } from "./results.ts";
import type { Results, Section } from "./results.ts";
import { measureRuns } from "./runs.ts";
import { measureSandbox } from "./sandbox/section.ts";
import { measureSearches } from "./searches.ts";
import type { BenchRun } from "./take-turns.ts";
import { measureThroughput } from "./throughput/section.ts";

/** In the order of their numbers. */
const sections: readonly ((run: BenchRun) => Promise<Section>)[] = [
  measureDurable,
  measureSandbox,
  measureThroughput,
  measureGrowth,
  measureCold,
  measureSearches,
  measureRuns,
  measureCancelling,
];

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 3 : 10));
if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError("--rounds is not a whole number from 1");
const only = values.only?.split(",").map(Number) ?? [...sections.keys()].map((at) => at + 1);
if (only.some((number) => sections[number - 1] === undefined)) throw new RangeError("--only names no section");
if (values.write && only.length < sections.length) throw new RangeError("--write needs all sections, not --only some");

using folder = temporaryFolder();
using noise = new NoiseProbe(folder.path);
const measured: Section[] = [];
for (const [at, measure] of sections.entries()) {
  if (!only.includes(at + 1)) continue;
  const startMs = performance.now();
  const section = await measure({ rounds, isQuick: values.quick, folder: folder.path, noise });
  measured.push(section);
  printSection(section);
  console.log(`\n(${((performance.now() - startMs) / 1000).toFixed(0)} s)`);
}

const effort = values.quick ? "quick" : "full";
const results = { effort, rounds, machine: machine(folder.path), noise: noise.found(), sections: measured } as const;
printNoise(results);
const project = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));
writeTo(join(project, "dist", "bench"));
if (values.write) {
  const written = writeTo(join(project, "test", "bench", "results"));
  quote("README.md", costLine(written));
  quote("test/bench/README.md", costTable(written));
}

/** Returns what the file says: pictures and quotes are made from it, so that anyone can make them again. */
function writeTo(place: string): Results {
  mkdirSync(place, { recursive: true });
  const text = formatResults(results);
  const written = parseResults(text);
  writeFileSync(join(place, "bench.json"), text);
  writeFileSync(join(place, "bench.svg"), drawResults(written));
  return written;
}

function quote(document: string, text: string): void {
  const file = join(project, document);
  writeFileSync(file, replaceQuote(readFileSync(file, "utf8"), text));
}
