/**
 * Two processes with the real runtime work for the same users. One is killed at a random instant, the other continues,
 * and a new process replaces the killed one. Every few kills both die and everything is checked: acknowledged calls
 * are there, at most one unfinished call as well, facts and index agree, and no file is left behind.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { isLong } from "../../stage/seed.ts";
import type { UserId } from "../../stage/store.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { readUserFiles, userFolder } from "../../support/user-files.ts";
import { DiskRoot, FileStore } from "../store-under-test.ts";
import { shownAfter, shownIn } from "./entry-history.ts";
import { LoadedPair } from "./loaded-pair.ts";

/** Kills in each of the two pairs, which run concurrently in separate folders. */
const killsOfPair = isLong ? 500 : 30;

const users = ["alice", "bob", "carol", "dave"];
const callersOf = (side: number): Record<string, string[]> =>
  Object.fromEntries(users.map((user) => [user, [1, 2, 3].map((number) => `side-${side}-entry-${number}`)]));

test.concurrent.for([1, 2])("kills lose nothing, seed %i", { timeout: killsOfPair * 10_000 }, async (seed) => {
  using folder = temporaryFolder();
  const callers = [callersOf(0), callersOf(1)] as const;
  const work = { dataDir: folder.path, kind: "entries", callers, repeats: false } as const;
  using pair = new LoadedPair(work, seededRandom(seed));
  await pair.start();
  for (;;) {
    while (pair.kills % 10 < 8) await pair.killOne();
    await pair.killBoth();
    for (const user of users) await checkUser(folder.path, user, pair);
    if (pair.kills >= killsOfPair) break;
    await pair.startBoth();
  }
  console.log(`seed ${seed}: ${pair.kills} kills, ${pair.acknowledged} calls acknowledged`);
  expect(pair.acknowledged).toBeGreaterThan(pair.kills);
});

/** Recovers a user like the next process, without waiting for the dead ones, and checks every entry. */
async function checkUser(dataDir: string, user: string, { possible }: LoadedPair): Promise<void> {
  const store = new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {} });
  await store.hold(user as UserId, { writes: true, until: performance.now() }, async () => {
    const files = readUserFiles(dataDir, user);
    for (const [key, counts] of possible) {
      const [caller, entry = ""] = key.split(" ");
      if (caller === user) expect([...counts].map(shownAfter), key).toContain(shownIn(files, entry));
    }
    const own = readdirSync(join(userFolder(dataDir, user), ".memcell"));
    expect(own.filter((name) => /^staged-|damaged/.test(name))).toEqual([]);
  });
  await store.close();
}
