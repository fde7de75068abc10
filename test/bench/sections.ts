import type { BenchRun } from "./bench-run.ts";
import { measureCancelling } from "./cancelling/section.ts";
import { measureCold } from "./cold/section.ts";
import { measureDurable } from "./durable/section.ts";
import { measureGrowth } from "./growth/section.ts";
import { measureJournal } from "./journal/section.ts";
import { measureRecoverySection } from "./recovery-section.ts";
import type { Section } from "./results.ts";
import { measureRunHistory } from "./run-history/section.ts";
import { measureSandbox } from "./sandbox/section.ts";
import { measureStores } from "./stores/section.ts";
import { measureThroughput } from "./throughput/section.ts";

/** All sections by number, in the order in which they run. */
export const sections: ReadonlyMap<number, (run: BenchRun) => Promise<Section>> = new Map([
  [1, measureDurable],
  [2, measureSandbox],
  [3, measureThroughput],
  [4, measureGrowth],
  [5, measureCold],
  [6, measureRecoverySection],
  [7, measureJournal],
  [8, measureRunHistory],
  [9, measureStores],
  [10, measureCancelling],
]);
