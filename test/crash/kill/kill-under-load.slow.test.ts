/**
 * Two processes with the real runtime work for the same users. One is killed at a random instant, the other continues,
 * and a new process replaces the killed one. Every few kills both die and everything is checked: acknowledged calls
 * are there, at most one more of an entry, facts and index agree, and no file is left behind.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import { isLong } from "../../stage/seed.ts";
import type { UserId } from "../../stage/store.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { readUserFiles, userFolder } from "../../support/user-files.ts";
import { DiskRoot, FileStore } from "../store-under-test.ts";
import { shownIn } from "./entry-history.ts";
import { LoadedProcess } from "./loaded-process.ts";

/** Kills in each of the two pairs, which run concurrently in separate folders. */
const killsOfPair = isLong ? 500 : 30;

const users = ["alice", "bob", "carol", "dave"];
const entriesOf = (side: number): string[] => [1, 2, 3].map((number) => `side-${side}-entry-${number}`);

test.concurrent.for([1, 2])("kills lose nothing, seed %i", { timeout: killsOfPair * 10_000 }, async (seed) => {
  using folder = temporaryFolder();
  const random = seededRandom(seed);
  /** By user and entry: the last call that was acknowledged. */
  const done = new Map<string, number>();
  const sides: LoadedProcess[] = [];
  let acknowledged = 0;

  const start = async (side: number): Promise<void> => {
    const callers = users.map((user) => {
      const entries = entriesOf(side).map((entry) => [entry, (done.get(`${user} ${entry}`) ?? 0) + 1]);
      return [user, Object.fromEntries(entries)];
    });
    const process = new LoadedProcess({ dataDir: folder.path, callers: Object.fromEntries(callers) });
    sides[side] = process;
    await process.start();
  };
  const kill = async (side: number): Promise<void> => {
    const process = sides[side] as LoadedProcess;
    await process.kill();
    acknowledged += process.acknowledged;
    expect(process.failures).toEqual([]);
    for (const [key, count] of process.done) done.set(key, count);
  };
  /** At a random instant, while the other one continues. A new one takes its place. */
  const killOne = async (): Promise<void> => {
    const side = random() < 0.5 ? 0 : 1;
    await sides[side]?.progress(1 + Math.floor(random() * 12));
    // Waits for some more turns of the event loop, so that a kill does not always follow an acknowledgement.
    for (let turns = Math.floor(random() * 200); turns > 0; turns--) await setImmediate();
    await kill(side);
    await sides[1 - side]?.progress(3);
    await start(side);
  };

  try {
    for (let kills = 0; kills < killsOfPair; kills += 10) {
      await Promise.all([start(0), start(1)]);
      for (let count = 0; count < 8; count++) await killOne();
      await Promise.all([kill(0), kill(1)]);
      for (const user of users) await checkUser(folder.path, user, done);
    }
  } finally {
    for (const side of sides) void side.kill();
  }
  console.log(`seed ${seed}: ${killsOfPair} kills, ${acknowledged} calls acknowledged`);
  expect(acknowledged).toBeGreaterThan(killsOfPair);
});

/** Recovers a user like the next process, without waiting for the dead ones, and checks every entry. */
async function checkUser(dataDir: string, user: string, done: ReadonlyMap<string, number>): Promise<void> {
  const store = new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {} });
  await store.hold(user as UserId, { writes: true, until: performance.now() }, async () => {
    const files = readUserFiles(dataDir, user);
    for (const entry of [...entriesOf(0), ...entriesOf(1)]) {
      const key = `${user} ${entry}`;
      const { file, line } = shownIn(files, entry);
      const last = done.get(key) ?? 0;
      expect([last, last + 1], key).toContain(file);
      expect(line, key).toBe(file);
    }
    const own = readdirSync(join(userFolder(dataDir, user), ".memcell"));
    expect(own.filter((name) => /^staged-|damaged/.test(name))).toEqual([]);
  });
  await store.close();
}
