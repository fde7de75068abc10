/** Computes figures from samples, and judges them by the bounds for memcell's speed and size. */
import type { Figure, Target } from "./results.ts";
import { compare, difference, median, quantile, range, ratio } from "./statistics.ts";
import type { Rounds } from "./statistics.ts";

export interface Bound {
  readonly text: string;
  readonly kind: Target["kind"];
  readonly bound: number;
  readonly unit: string;
}

const atMost = (bound: number, unit: string, text: string): Bound => ({ text, kind: "at most", bound, unit });
const atLeast = (bound: number, unit: string, text: string): Bound => ({ text, kind: "at least", bound, unit });

export const bounds = {
  durableAgainstNaive: atMost(1.1, "×", "the naive durable write"),
  durableOnOwnDisk: atMost(1.3, "×", "the naive durable write"),
  durableTail: atMost(3, "×", "the median of the same calls"),
  againstPeer: atMost(1.2, "×", "the peer's time at the same transport"),
  sandboxAdds: atMost(0.5, "ms", "added by the sandbox to a call with 4 KB"),
  throughputAt8: atLeast(0.55, "×", "the naive way's throughput with 8 users"),
  growthTo1000: atMost(2, "×", "the time with 10 entries"),
  /** The guest's computing time, without the host's reads. */
  journalSearch: atMost(150, "ms", "the guest's own time in a search of 10,000 blocks"),
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
} as const satisfies Record<string, Bound>;

export interface FigureParts {
  readonly key: string;
  readonly name: string;
  readonly facts?: Record<string, string>;
  readonly rounds: Rounds;
  /** The comparison: a ratio, or a difference if `differenceIn` names its unit. */
  readonly against?: { readonly key: string; readonly rounds: Rounds; readonly differenceIn?: string };
  /** For the result of the comparison, or for the median if there is none. */
  readonly bound?: Bound | undefined;
}

/** With fewer samples, the 99th percentile would be the worst one. */
const samplesForP99 = 40;

export function figureOf({ key, name, facts = {}, rounds, against, bound }: FigureParts): Figure {
  const all = rounds.flat();
  const compared = against ? comparison(rounds, against) : null;
  return {
    key,
    name,
    facts,
    median: median(all),
    p99: all.length < samplesForP99 ? null : quantile(all, 0.99),
    spread: [...range(rounds.map(median))],
    compared,
    targets: bound ? [judged(bound, compared?.value ?? median(all))] : [],
  };
}

function comparison(rounds: Rounds, against: NonNullable<FigureParts["against"]>): Figure["compared"] {
  const { key, rounds: theirs, differenceIn: unit } = against;
  const { value, spread } = compare(rounds, theirs, unit === undefined ? ratio : difference);
  return { to: key, unit: unit ?? "×", value, spread: [...spread] };
}

/** In the schema's order, because the file is compared with the schema's output. */
function judged({ text, kind, bound, unit }: Bound, found: number): Target {
  return { text, kind, bound, found, unit, isMet: kind === "at most" ? found <= bound : found >= bound };
}
