/** 3. Throughput of many simultaneous users, against the same number of threads of the naive way. */
import { availableParallelism } from "node:os";
import { join } from "node:path";

import type { BenchRun } from "../bench-run.ts";
import { figureOf } from "../figure.ts";
import type { Figure, Section } from "../results.ts";
import { judged, targets } from "../targets.ts";
import { naiveCrowd, ourCrowd } from "./crowds.ts";
import { callsPerSecond } from "./user-work.ts";
import type { Crowd } from "./user-work.ts";

const usersCounts = [1, 2, 4, 8, 16] as const;
const usersMax = 16;
const promisedUsers = 8;

export async function measureThroughput(run: BenchRun): Promise<Section> {
  const folder = join(run.folder, "throughput");
  const crowds = [await naiveCrowd(join(folder, "naive"), usersMax), await ourCrowd(join(folder, "memcell"), usersMax)];
  try {
    const found = await allRounds(run, crowds);
    return {
      number: 3,
      title: "Throughput of many users",
      notes: [
        "each user replaces its 40 entries of 1 KB, one call after the other, in a folder of its own",
        `memcell runs its guests on ${availableParallelism()} threads and commits on one; the naive way has a thread for each user`,
      ],
      tables: [rateTable(found, crowds), latencyTable(found, crowds)],
    };
  } finally {
    for (const crowd of crowds) await crowd.close();
  }
}

/** By crowd and number of users: each round's rate, and the time of each call. */
type Found = ReadonlyMap<string, { readonly rates: number[][]; readonly times: number[][] }>;

const keyOf = (usersCount: number, crowd: Crowd): string => `${usersCount}-${crowd.key}`;

async function allRounds(run: BenchRun, crowds: readonly Crowd[]): Promise<Found> {
  const keys = usersCounts.flatMap((count) => crowds.map((crowd) => keyOf(count, crowd)));
  const found = new Map(keys.map((key) => [key, { rates: [] as number[][], times: [] as number[][] }]));
  const windowMs = run.isQuick ? 100 : 250;
  // Engines compile what has run often.
  for (const crowd of crowds) await crowd.work(usersMax, { windowMs: run.isQuick ? 100 : 4_000 });
  for (let round = -1; round < run.rounds; round++) {
    if (round >= 0) run.noise.sampleRound();
    for (const count of usersCounts) {
      const inTurn = round % 2 === 0 ? crowds : crowds.toReversed();
      for (const crowd of inTurn) {
        const users = await crowd.work(count, { windowMs });
        if (round < 0) continue;
        const samples = found.get(keyOf(count, crowd));
        samples?.rates.push([callsPerSecond(users)]);
        samples?.times.push(users.flatMap(({ times }) => times));
      }
    }
  }
  return found;
}

function rateTable(found: Found, crowds: readonly Crowd[]): Section["tables"][number] {
  const ratesOf = (key: string): number[][] => found.get(key)?.rates ?? [];
  const figures = usersCounts.flatMap((count) =>
    crowds.map((crowd): Figure => {
      const isPromised = crowd.key === "memcell" && count === promisedUsers;
      return figureOf({
        key: keyOf(count, crowd),
        name: `${shownUsers(count)}, ${crowd.name}`,
        rounds: ratesOf(keyOf(count, crowd)),
        against: { key: `${count}-naive`, rounds: ratesOf(`${count}-naive`) },
        ...(isPromised && { judge: (ratio) => [judged(targets.throughputAt8, ratio)] }),
      });
    }),
  );
  return { key: "throughput", title: "Durable upserts of all users together", unit: "calls/s", figures };
}

function latencyTable(found: Found, crowds: readonly Crowd[]): Section["tables"][number] {
  const timesOf = (key: string): number[][] => found.get(key)?.times ?? [];
  const figures = usersCounts.flatMap((count) =>
    crowds.map((crowd) =>
      figureOf({
        key: keyOf(count, crowd),
        name: `${shownUsers(count)}, ${crowd.name}`,
        rounds: timesOf(keyOf(count, crowd)),
        against: { key: `${count}-naive`, rounds: timesOf(`${count}-naive`) },
      }),
    ),
  );
  return { key: "latency", title: "Time of one call meanwhile", unit: "ms", figures };
}

const shownUsers = (count: number): string => (count === 1 ? "1 user" : `${count} users`);
