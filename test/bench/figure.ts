/** Computes figures from samples. */
import type { Figure, Target } from "./results.ts";
import { compare, difference, summarise } from "./statistics.ts";
import type { Compared, Rounds } from "./statistics.ts";

export interface FigureParts {
  readonly key: string;
  readonly name: string;
  readonly facts?: Record<string, string>;
  readonly rounds: Rounds;
  /** The comparison: a ratio, or a difference if `differenceIn` names its unit. */
  readonly against?: { readonly key: string; readonly rounds: Rounds; readonly differenceIn?: string };
  /** Judges the result of the comparison, or the median if there is none. */
  readonly judge?: (found: number) => Target[];
}

/** With fewer samples, the 99th percentile would be the worst one. */
const samplesForP99 = 40;

export function figureOf({ key, name, facts = {}, rounds, against, judge }: FigureParts): Figure {
  const { median, p99, spread, samples } = summarise(rounds);
  const compared = against ? comparison(rounds, against) : null;
  return {
    key,
    name,
    facts,
    median,
    p99: samples < samplesForP99 ? null : p99,
    spread: [...spread],
    compared,
    targets: judge?.(compared?.value ?? median) ?? [],
  };
}

function comparison(rounds: Rounds, against: NonNullable<FigureParts["against"]>): Figure["compared"] {
  const { key, rounds: theirs, differenceIn: unit } = against;
  const { value, spread }: Compared =
    unit === undefined ? compare(rounds, theirs) : compare(rounds, theirs, difference);
  return { to: key, unit: unit ?? "×", value, spread: [...spread] };
}
