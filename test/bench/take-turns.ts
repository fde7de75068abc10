/**
 * Lets contestants take turns on the same machine and disk, so that other activity affects all alike.
 *
 * A turn is a block of operations, not one. So a way pays for its own deferred work (a later flush, an instance created
 * after the answer), and not the next one in the row. The disk is flushed before each turn, so that no contestant's
 * flush writes a peer's data. Each pass has a new random order.
 */
import { seededRandom } from "../support/seeded-random.ts";

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
  run(step: Step): Promise<void>;
}

export interface Plan {
  readonly rounds: number;
  /** Turns of each contestant in a round, and operations in a turn. */
  readonly passes: number;
  readonly block: number;
  /** Rounds that do not count, at the beginning: engines compile what has run often. Default: 1. */
  readonly warmUpRounds?: number;
  /** Called before each turn. */
  readonly settle?: () => void;
  /** Called before each round that counts. */
  readonly beforeRound: () => void;
}

/** Milliseconds by contestant's key and round, without the warm-up round. */
export type Times = ReadonlyMap<string, number[][]>;

export async function takeTurns(contestants: readonly Contestant[], plan: Plan): Promise<Times> {
  const random = seededRandom(4);
  const times = new Map(contestants.map(({ key }) => [key, [] as number[][]]));
  for (let round = -(plan.warmUpRounds ?? 1); round < plan.rounds; round++) {
    if (round >= 0) plan.beforeRound();
    const found = await oneRound(contestants, plan, { round, random });
    for (const [key, samples] of round < 0 ? [] : found) times.get(key)?.push(samples);
  }
  return times;
}

async function oneRound(
  contestants: readonly Contestant[],
  { passes, block, settle }: Plan,
  { round, random }: { round: number; random: () => number },
): Promise<Map<string, number[]>> {
  const times = new Map(contestants.map(({ key }) => [key, [] as number[]]));
  for (let pass = 0; pass < passes; pass++) {
    for (const contestant of shuffled(contestants, random)) {
      settle?.();
      for (let at = pass * block; at < (pass + 1) * block; at++) {
        const step = { round, at };
        await contestant.prepare?.(step);
        const startMs = performance.now();
        await contestant.run(step);
        times.get(contestant.key)?.push(performance.now() - startMs);
      }
    }
  }
  return times;
}

export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** One contestant's samples. */
export function timesOf(times: Times, key: string): number[][] {
  const found = times.get(key);
  if (!found) throw new RangeError(`No contestant "${key}" took part`);
  return found;
}
