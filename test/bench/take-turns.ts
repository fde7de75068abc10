/**
 * Lets contestants take turns on the same machine and disk, so that other activity affects all alike.
 *
 * A turn is a block of operations, not one. So a way pays for its own deferred work (a later flush, an instance created
 * after the answer), and not the next one in the row. The disk is flushed before each turn, so that no contestant's
 * flush writes a peer's data. Each pass has a new random order.
 */
import { seededRandom } from "../support/seeded-random.ts";
import type { Rounds } from "./figures.ts";

/** The input of every section. */
export interface BenchRun {
  /** The number of rounds that count. */
  readonly rounds: number;
  /** Fewer operations and sizes. Shows that everything runs; do not quote it. */
  readonly isQuick: boolean;
  /** A folder on this machine's own disk. */
  readonly folder: string;
}

export interface Step {
  /** Less than 0 in the rounds that do not count. */
  readonly round: number;
  /** The operation's number within the round. */
  readonly at: number;
}

export interface Contestant {
  readonly key: string;
  /** Prepares the next operation. Not timed. */
  prepare?(step: Step): Promise<void>;
  /** What it returns counts, if anything. Otherwise the milliseconds that it takes. */
  run(step: Step): Promise<void | number | readonly number[]>;
}

export interface Plan {
  /** Turns of each contestant in a round, and operations in a turn. */
  readonly passes: number;
  readonly block: number;
  /** Rounds that do not count, at the beginning: engines compile what has run often. Default: 1. */
  readonly warmUpRounds?: number;
  /** Called before each turn. */
  readonly settle?: () => void;
}

/** The samples of a contestant, by its key. Throws for one that took no part. */
export type Found = (key: string) => Rounds;

export async function takeTurns(run: BenchRun, contestants: readonly Contestant[], plan: Plan): Promise<Found> {
  const random = seededRandom(4);
  const found = new Map(contestants.map(({ key }) => [key, [] as number[][]]));
  for (let round = -(plan.warmUpRounds ?? 1); round < run.rounds; round++) {
    const samples = await oneRound(contestants, plan, { round, random });
    for (const [key, each] of round < 0 ? [] : samples) found.get(key)?.push(each);
  }
  return (key) => {
    const rounds = found.get(key);
    if (!rounds) throw new RangeError(`No contestant "${key}" took part`);
    return rounds;
  };
}

async function oneRound(
  contestants: readonly Contestant[],
  { passes, block, settle }: Plan,
  { round, random }: { round: number; random: () => number },
): Promise<Map<string, number[]>> {
  const samples = new Map(contestants.map(({ key }) => [key, [] as number[]]));
  for (let pass = 0; pass < passes; pass++) {
    for (const contestant of shuffled(contestants, random)) {
      settle?.();
      for (let at = pass * block; at < (pass + 1) * block; at++) {
        const step = { round, at };
        await contestant.prepare?.(step);
        const startMs = performance.now();
        const own = await contestant.run(step);
        samples.get(contestant.key)?.push(...[own ?? performance.now() - startMs].flat());
      }
    }
  }
  return samples;
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
