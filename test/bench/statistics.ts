/** Medians and related figures. Samples are kept by round, so that rounds can be compared. */

/** One contestant's values for each round that counts. */
export type Rounds = readonly (readonly number[])[];

export interface Summary {
  readonly median: number;
  readonly p99: number;
  /** The lowest and the highest of the rounds' medians. */
  readonly spread: readonly [low: number, high: number];
  readonly samples: number;
}

export function summarise(rounds: Rounds): Summary {
  const all = rounds.flat();
  return {
    median: median(all),
    p99: quantile(all, 0.99),
    spread: range(rounds.map(median)),
    samples: all.length,
  };
}

export interface Compared {
  readonly value: number;
  /** The lowest and highest values of single rounds. Both sides of a round had the same machine noise. */
  readonly spread: readonly [low: number, high: number];
}

/** One contestant's median against another's, by division or by subtraction. */
export function compare(
  ours: Rounds,
  theirs: Rounds,
  combine: (ours: number, theirs: number) => number = (a, b) => a / b,
): Compared {
  const byRound = ours.map((round, at) => combine(median(round), median(theirs[at] ?? [])));
  return { value: combine(median(ours.flat()), median(theirs.flat())), spread: range(byRound) };
}

export const difference = (ours: number, theirs: number): number => ours - theirs;

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function range(values: readonly number[]): readonly [number, number] {
  return [Math.min(...values), Math.max(...values)];
}
