/**
 * `npm run bench:holding`: measures how long each operation holds the event loop, at the bounds that a user can reach, and
 * prints it. It takes no turns with other sections: its figures are compared with a bound, and with nothing else.
 *
 * usage: node dist/test/bench/holding/main.js [--quick] [--repetitions N]
 *
 *   --quick        a hundredth of each bound: shows that everything runs; do not quote it
 *   --repetitions  of what can be repeated (3, or 1 with --quick)
 */
import { join } from "node:path";
import { parseArgs } from "node:util";

import { createRuntime } from "memcell";

import { temporaryFolder } from "../../support/temporary-folder.ts";
import { bounds, figureOf } from "../figures.ts";
import { printSection } from "../print-results.ts";
import type { Figure } from "../results.ts";
import { caseGroups, nowMs } from "./cases.ts";
import type { CaseGroup } from "./cases.ts";
import { longestHold } from "./longest-hold.ts";
import type { Hold } from "./longest-hold.ts";

const { values } = parseArgs({
  options: { repetitions: { type: "string" }, quick: { type: "boolean", default: false } },
});
const repetitions = Number(values.repetitions ?? (values.quick ? 1 : 3));
if (!Number.isInteger(repetitions) || repetitions < 1)
  throw new RangeError("--repetitions is not a whole number from 1");

using folder = temporaryFolder();
const figures: Figure[] = [];
for (const [at, group] of caseGroups.entries()) figures.push(...(await measure(group, join(folder.path, `${at}`))));
printSection({
  number: 1,
  title: "The longest hold of the event loop",
  notes: [
    "processor time of the main thread between two turns of a timer, as Linux counts it: what other processes take does not count",
    `the least of ${repetitions} repetitions, or the one, of an operation that changes what it is about`,
    "with the time of the engine's collector in it, which is also told apart",
  ],
  tables: [{ key: "holding", title: "The longest hold of each operation", unit: "ms", figures }],
});

/** A case that can be repeated is. Its shortest hold counts: other processes only make it longer. */
async function measure({ plugins, prepare, cases }: CaseGroup, dataDir: string): Promise<Figure[]> {
  const auditLog = { file: `${dataDir}.log` };
  await using runtime = await createRuntime({ dataDir, plugins, durability: "relaxed", clock: () => nowMs, auditLog });
  await prepare({ dataDir, runtime, count: (full) => (values.quick ? Math.ceil(full / 100) : full) });
  const found: Figure[] = [];
  for (const { key, name, run, isOnce = false } of cases) {
    const holds: Hold[] = [];
    for (let at = 0; at < (isOnce ? 1 : repetitions); at++) holds.push(await longestHold(() => run(runtime)));
    const [least] = holds.toSorted((a, b) => a.computedMs - b.computedMs);
    if (least === undefined) continue;
    const facts = { "on the clock, ms": least.elapsedMs.toFixed(0), "garbage, ms": least.collectedMs.toFixed(0) };
    found.push(figureOf({ key, name, facts, rounds: [[least.computedMs]], bound: bounds.longestHold }));
  }
  return found;
}
