/** Medians and related figures. Samples are kept by round, so that rounds can be compared. */

/** One contestant's values for each round that counts. */
export type Rounds = readonly (readonly number[])[];

/** The lowest and the highest value. */
export type Range = readonly [low: number, high: number];

/** By division or by subtraction. */
export type Combine = (ours: number, theirs: number) => number;

export const ratio: Combine = (ours, theirs) => ours / theirs;
export const difference: Combine = (ours, theirs) => ours - theirs;

/** One contestant's median against another's. Both sides of a round had the same machine noise. */
export function compare(ours: Rounds, theirs: Rounds, combine: Combine): { value: number; spread: Range } {
  const byRound = ours.map((round, at) => combine(median(round), median(theirs[at] ?? [])));
  return { value: combine(median(ours.flat()), median(theirs.flat())), spread: range(byRound) };
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const range = (values: readonly number[]): Range => [Math.min(...values), Math.max(...values)];
