/**
 * Lets contestants take turns on the same machine and disk, so that whatever else happens there meets each alike.
 *
 * A turn is a block of operations, not one: what a way puts off (a flush that is due later, an instance that is made
 * after the answer) it then pays for itself and not the next one in the row. Before a turn the disk is flushed, so that
 * who flushes does not write what a peer has left unflushed. The order is drawn anew for every pass.
 */
import { seededRandom } from "../support/seeded-random.ts";

export interface Step {
  /** Counts from -1, the round that warms up. */
  readonly round: number;
  /** Counts the operations of the round. */
  readonly at: number;
}

export interface Contestant {
  readonly key: string;
  /** What the next operation needs, not timed. */
  prepare?(step: Step): Promise<void>;
  run(step: Step): Promise<void>;
}

export interface Plan {
  readonly rounds: number;
  /** Turns that each contestant has in a round, and operations of a turn. */
  readonly passes: number;
  readonly block: number;
  /** Before each turn. */
  readonly settle?: () => void;
  /** Before each round that counts. */
  readonly beforeRound: () => void;
}

/** Milliseconds by contestant's key and round. The warm-up round is not among them. */
export type Times = ReadonlyMap<string, number[][]>;

export async function takeTurns(contestants: readonly Contestant[], plan: Plan): Promise<Times> {
  const random = seededRandom(4);
  const times = new Map(contestants.map(({ key }) => [key, [] as number[][]]));
  for (let round = -1; round < plan.rounds; round++) {
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

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** The samples of one contestant. */
export function timesOf(times: Times, key: string): number[][] {
  const found = times.get(key);
  if (!found) throw new RangeError(`No contestant "${key}" took part`);
  return found;
}
