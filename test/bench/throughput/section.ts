/** Throughput of many simultaneous users, against the same number of threads of the naive way. */
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { bounds, figureOf } from "../figures.ts";
import type { Section } from "../results.ts";
import { takeTurns } from "../take-turns.ts";
import type { BenchRun } from "../take-turns.ts";
import { naiveCrowd, ourCrowd } from "./crowds.ts";
import type { Crowd } from "./crowds.ts";

const usersCounts = [1, 2, 4, 8, 16] as const;
const usersMax = 16;
const promisedUsers = 8;

const keyOf = (usersCount: number, crowd: Pick<Crowd, "key">): string => `${usersCount}-${crowd.key}`;

export async function measureThroughput(run: BenchRun): Promise<Section> {
  const folder = join(run.folder, "throughput");
  const crowds = [await naiveCrowd(join(folder, "naive"), usersMax), await ourCrowd(join(folder, "memcell"), usersMax)];
  const windowMs = run.isQuick ? 100 : 250;
  // Engines compile what has run often.
  for (const crowd of crowds) await crowd.work(usersMax, run.isQuick ? 100 : 4_000);
  const pairs = usersCounts.flatMap((count) => crowds.map((crowd) => ({ count, crowd })));
  const contestants = pairs.map(({ count, crowd }) => ({
    key: keyOf(count, crowd),
    run: async () => {
      const users = await crowd.work(count, windowMs);
      return users.reduce((sum, { times, elapsedMs }) => sum + (times.length / elapsedMs) * 1000, 0);
    },
  }));
  const found = await takeTurns(run, contestants, { passes: 1, block: 1 });
  for (const crowd of crowds) await crowd.close();
  const figures = pairs.map(({ count, crowd }) => {
    const isPromised = crowd.key === "memcell" && count === promisedUsers;
    return figureOf({
      key: keyOf(count, crowd),
      name: `${count === 1 ? "1 user" : `${count} users`}, ${crowd.name}`,
      rounds: found(keyOf(count, crowd)),
      against: { key: `${count}-naive`, rounds: found(`${count}-naive`) },
      bound: isPromised ? bounds.throughputAt8 : undefined,
    });
  });
  return {
    title: "Throughput of many users",
    notes: [
      "each user replaces its 40 entries of 1 KB, one call after the other, in a folder of its own",
      `memcell runs its guests on ${availableParallelism()} threads and commits on one; the naive way has a thread for each user`,
    ],
    tables: [{ key: "throughput", title: "Durable upserts of all users together", unit: "calls/s", figures }],
  };
}
