/** 11. How long each operation holds the event loop, at the bounds that a user can reach. */
import { join } from "node:path";

import type { BenchRun } from "../bench-run.ts";
import { figureOf } from "../figure.ts";
import type { Figure, Section, Target } from "../results.ts";
import { judged, targets } from "../targets.ts";
import { caseGroups } from "./cases.ts";
import { measureGroup } from "./measure-cases.ts";
import type { HoldingRun } from "./measure-cases.ts";

const judge = (found: number): Target[] => [judged(targets.longestHold, found)];

/** The figure's samples are one: the least of all repetitions. */
export async function measureHolding(run: HoldingRun & Pick<BenchRun, "folder">): Promise<Section> {
  const figures: Figure[] = [];
  for (const [at, group] of caseGroups.entries()) {
    for (const { key, name, holds } of await measureGroup(group, join(run.folder, `holding-${at}`), run)) {
      const [least] = holds.toSorted((a, b) => a.computedMs - b.computedMs);
      if (least === undefined) continue;
      const facts = { "on the clock, ms": least.elapsedMs.toFixed(0), "garbage, ms": least.collectedMs.toFixed(0) };
      figures.push(figureOf({ key, name, facts, rounds: [[least.computedMs]], judge }));
    }
  }
  return {
    number: 11,
    title: "The longest hold of the event loop",
    notes: [
      "processor time of the main thread between two turns of a timer, as Linux counts it: what other processes take does not count",
      `the least of ${run.repetitions} repetitions, or the one, of an operation that changes what it is about`,
      "with the time of the engine's collector in it, which is also told apart",
    ],
    tables: [{ key: "holding", title: "The longest hold of each operation", unit: "ms", figures }],
  };
}
