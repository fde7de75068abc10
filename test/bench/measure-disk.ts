/** Lets all ways to upsert take turns on one disk and prints a table of the times. */
import { join } from "node:path";

import { flushing, naively, throughStack, throughStore } from "./ways-to-upsert.ts";
import type { Way } from "./ways-to-upsert.ts";

export const entriesCount = 40;
const roundsCount = 9;

interface Timed {
  readonly way: Way;
  /** Milliseconds, by round. */
  readonly rounds: number[][];
}

export async function measureDisk(disk: string, folder: string): Promise<void> {
  const ways = [
    await naively(join(folder, "naive")),
    await throughStack("full", join(folder, "stack-full")),
    await throughStack("relaxed", join(folder, "stack-relaxed")),
    throughStore("full", join(folder, "store-full")),
    throughStore("relaxed", join(folder, "store-relaxed")),
    flushing(join(folder, "flushed")),
  ];
  const timed = ways.map((way): Timed => ({ way, rounds: [] }));
  for (let round = -1; round < roundsCount; round++) {
    // The first one makes the entries and is not counted.
    const times = await oneRound(ways, round);
    if (round >= 0) for (const [at, each] of timed.entries()) each.rounds.push(times[at] ?? []);
  }
  for (const way of ways) await way.close();
  print(disk, timed);
}

/** Each entry once in each way. Who begins changes from entry to entry. */
async function oneRound(ways: readonly Way[], round: number): Promise<number[][]> {
  const times: number[][] = ways.map(() => []);
  for (let entry = 0; entry < entriesCount; entry++) {
    for (let turn = 0; turn < ways.length; turn++) {
      const at = (turn + entry) % ways.length;
      const startMs = performance.now();
      await ways[at]?.upsert(entry, round);
      times[at]?.push(performance.now() - startMs);
    }
  }
  return times;
}

function print(disk: string, timed: readonly Timed[]): void {
  const naive = medianOf(timed[0]?.rounds.flat() ?? []);
  console.log(`\n**${disk}**: ${entriesCount} entries of 1 KB, ${roundsCount} rounds, milliseconds\n`);
  console.log("| way | median | against naive | p99 | medians of the rounds |");
  console.log("|---|---|---|---|---|");
  for (const { way, rounds } of timed) {
    const all = rounds.flat();
    const medians = rounds.map(medianOf).toSorted((a, b) => a - b);
    const spread = `${shown(medians[0])}–${shown(medians.at(-1))}`;
    const [median, p99] = [medianOf(all), quantileOf(all, 0.99)];
    console.log(`| ${way.name} | ${shown(median)} | ${(median / naive).toFixed(2)} × | ${shown(p99)} | ${spread} |`);
  }
}

const shown = (ms = Number.NaN): string => ms.toFixed(2);
const medianOf = (times: readonly number[]): number => quantileOf(times, 0.5);

function quantileOf(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN;
}
