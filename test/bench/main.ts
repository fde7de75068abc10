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
import { measureCold } from "./cold/section.ts";
import { measureDurable } from "./durable/section.ts";
import { measureGrowth } from "./growth.ts";
import { machine } from "./machine.ts";
import { formatResults } from "./results.ts";
import type { Results, Section } from "./results.ts";
import { costLine, costTable, printSection, replaceQuote } from "./tables.ts";
import type { BenchRun } from "./take-turns.ts";
import { measureThroughput } from "./throughput/section.ts";

/** In the order of their numbers. */
const sections: readonly ((run: BenchRun) => Promise<Section>)[] = [
  measureDurable,
  measureThroughput,
  measureGrowth,
  measureCold,
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
const measured: Section[] = [];
for (const [at, measure] of sections.entries()) {
  if (!only.includes(at + 1)) continue;
  const startMs = performance.now();
  const section = await measure({ rounds, isQuick: values.quick, folder: folder.path });
  measured.push(section);
  printSection(section);
  console.log(`\n(${((performance.now() - startMs) / 1000).toFixed(0)} s)`);
}

const effort = values.quick ? "quick" : "full";
const results = { effort, rounds, machine: machine(folder.path), sections: measured } as const;
const project = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));
writeTo(join(project, "dist", "bench"));
if (values.write) {
  const written = writeTo(join(project, "test", "bench", "results"));
  quote("README.md", costLine(written));
  quote("test/bench/README.md", costTable(written));
}

/** Returns what the file says: quotes are made from it, so that anyone can make them again. */
function writeTo(place: string): Results {
  mkdirSync(place, { recursive: true });
  const text = formatResults(results);
  writeFileSync(join(place, "bench.json"), text);
  return JSON.parse(text) as Results;
}

function quote(document: string, text: string): void {
  const file = join(project, document);
  writeFileSync(file, replaceQuote(readFileSync(file, "utf8"), text));
}
