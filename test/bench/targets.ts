/** Bounds for memcell's speed and size, and whether a figure keeps them. */
import type { Target } from "./results.ts";

export interface Bound {
  readonly text: string;
  readonly kind: Target["kind"];
  readonly bound: number;
  readonly unit: string;
}

const atMost = (bound: number, unit: string, text: string): Bound => ({ text, kind: "at most", bound, unit });
const atLeast = (bound: number, unit: string, text: string): Bound => ({ text, kind: "at least", bound, unit });

export const targets = {
  durableAgainstNaive: atMost(1.1, "×", "the naive durable write"),
  durableOnOwnDisk: atMost(1.3, "×", "the naive durable write"),
  durableTail: atMost(3, "×", "the median of the same calls"),
  againstPeer: atMost(1.2, "×", "the peer's time at the same transport"),
  sandboxAdds: atMost(0.5, "ms", "added by the sandbox to a call with 4 KB"),
  throughputAt8: atLeast(0.55, "×", "the naive way's throughput with 8 users"),
  growthTo1000: atMost(2, "×", "the time with 10 entries"),
  /** The guest's computing time, without the host's reads. */
  journalSearch: atMost(150, "ms", "the guest's own time in a search of 10,000 blocks"),
  memorySearch: atMost(100, "ms", "the guest's own time in a search of 1,000 entries"),
  storesSearch: atMost(100, "ms", "the guest's own time in a search of 1,000 entries"),
  appendGrowth: atMost(1.5, "×", "an append to a run of 10 events"),
  loadSince: atMost(2, "×", "a load of a run that does not exist"),
  cliFirstResult: atMost(400, "ms", "process start to first result"),
  runtimeFirstResult: atMost(250, "ms", "createRuntime to first result"),
  furtherWorker: atMost(40, "MB", "each further worker"),
  pluginBytes: atMost(1, "MB", "the plugin file"),
  pluginZippedBytes: atMost(0.45, "MB", "the plugin file, gzipped"),
  victimOfCancelling: atMost(1.5, "×", "the same beside a client that waits"),
  longestHold: atMost(50, "ms", "processor time between two turns of the event loop"),
  poolWhole: atMost(250, "ms", "until the pool is whole after a call was ended"),
} as const satisfies Record<string, Bound>;

export function judged(bound: Bound, found: number): Target {
  const isMet = bound.kind === "at most" ? found <= bound.bound : found >= bound.bound;
  const { text, kind, unit } = bound;
  // In the schema's order, because the file is compared with the schema's output.
  return { text, kind, bound: bound.bound, found, unit, isMet };
}

/** "met" or "missed by 0.12 ×". */
export function verdict({ isMet, bound, found, unit }: Target): string {
  return isMet ? "met" : `missed by ${shown(Math.abs(found - bound))} ${unit}`;
}

/** A number for readers, with three significant digits. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}
