/** Computes figures from samples, and judges them by the bounds for memcell's speed and size. */
import type { Figure, Range, Target } from "./results.ts";

/** One contestant's values for each round that counts. */
export type Rounds = readonly (readonly number[])[];

export type Bound = Omit<Target, "found" | "isMet">;

const atMost = (bound: number, unit: string, text: string): Bound => ({ text, kind: "at most", bound, unit });
const atLeast = (bound: number, unit: string, text: string): Bound => ({ text, kind: "at least", bound, unit });

export const bounds = {
  durableAgainstNaive: atMost(1.1, "×", "the naive durable write"),
  durableOnOwnDisk: atMost(1.3, "×", "the naive durable write"),
  durableTail: atMost(3, "×", "the median of the same calls"),
  againstPeer: atMost(1.2, "×", "the peer's time at the same transport"),
  throughputAt8: atLeast(0.55, "×", "the naive way's throughput with 8 users"),
  growthTo1000: atMost(2, "×", "the time with 10 entries"),
  growthTo990: atMost(1.3, "×", "the time with 50 entries"),
  cliFirstResult: atMost(400, "ms", "process start to first result"),
  runtimeFirstResult: atMost(250, "ms", "createRuntime to first result"),
  furtherWorker: atMost(40, "MB", "each further worker"),
  pluginBytes: atMost(1, "MB", "the plugin file"),
  pluginZippedBytes: atMost(0.45, "MB", "the plugin file, gzipped"),
} as const satisfies Record<string, Bound>;

interface FigureParts {
  readonly key: string;
  readonly name: string;
  readonly rounds: Rounds;
  /** The figure is divided by this one. */
  readonly against?: { readonly key: string; readonly rounds: Rounds };
  /** For the ratio, or for the median if there is none. */
  readonly bound?: Bound | undefined;
}

/** With fewer samples, the 99th percentile would be the worst one. */
const samplesForP99 = 40;

export function figureOf({ key, name, rounds, against, bound }: FigureParts): Figure {
  const all = rounds.flat();
  const compared = against ? comparison(rounds, against) : null;
  return {
    key,
    name,
    median: median(all),
    p99: all.length < samplesForP99 ? null : quantile(all, 0.99),
    spread: range(rounds.map(median)),
    compared,
    targets: bound ? [judged(bound, compared?.value ?? median(all))] : [],
  };
}

/** By round, too: both sides of a round had the same machine noise. */
function comparison(ours: Rounds, { key, rounds }: NonNullable<FigureParts["against"]>): Figure["compared"] {
  const byRound = ours.map((round, at) => median(round) / median(rounds[at] ?? []));
  return { to: key, unit: "×", value: median(ours.flat()) / median(rounds.flat()), spread: range(byRound) };
}

function judged({ text, kind, bound, unit }: Bound, found: number): Target {
  return { text, kind, bound, found, unit, isMet: kind === "at most" ? found <= bound : found >= bound };
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const range = (values: readonly number[]): Range => [Math.min(...values), Math.max(...values)];
