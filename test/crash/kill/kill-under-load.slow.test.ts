/**
 * Two processes with the real runtime work for the same users. One is killed at a random instant, the other continues,
 * and a new process replaces the killed one. Every few kills both die and everything is checked: acknowledged updates
 * are there, at most one more of an entry, facts and index agree, no file is left behind, and the shared store in
 * which all note their updates has every one.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { isLong } from "../../stage/seed.ts";
import type { UserId } from "../../stage/store.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { readUserFiles, userFolder } from "../../support/user-files.ts";
import { DiskRoot, openFiles } from "../store-under-test.ts";
import { shownIn } from "./entry-history.ts";
import { LoadedProcess } from "./loaded-process.ts";

/** Kills in each of the two pairs, which run concurrently in separate folders. */
const killsOfPair = isLong ? 500 : 10;

const users = ["alice", "bob", "carol", "dave"];
const entriesOf = (side: number): string[] => [1, 2, 3].map((number) => `side-${side}-entry-${number}`);

test.concurrent.for([1, 2])("kills lose nothing, seed %i", { timeout: killsOfPair * 10_000 }, async (seed) => {
  using folder = temporaryFolder();
  const random = seededRandom(seed);
  /** By user and entry: the last call that was acknowledged. */
  const done = new Map<string, number>();
  const sides: LoadedProcess[] = [];
  let acknowledged = 0;
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["stores"], threadsMax: 1 });
  /** The updates that the callers of some kills have noted in their shared store. */
  const notedIn = async (id: string): Promise<string[]> => {
    const input = { command: "view", path: `/memories/shared/${id}/` };
    const result = await runtime.callAsHost("memory", input, { userId: "alice", stores: [{ id, kind: "chat" }] });
    expect(result).toMatchObject({ ok: true });
    const { entries } = (result as { data: { entries: { key: string }[] } }).data;
    return entries.map(({ key }) => key);
  };

  const start = async (side: number, shared: string): Promise<void> => {
    const callers = users.map((user) => {
      const entries = entriesOf(side).map((entry) => [entry, (done.get(`${user} ${entry}`) ?? 0) + 1]);
      return [user, Object.fromEntries(entries)];
    });
    const process = new LoadedProcess({ dataDir: folder.path, shared, callers: Object.fromEntries(callers) });
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
  const killOne = async (shared: string): Promise<void> => {
    const side = random() < 0.5 ? 0 : 1;
    await sides[side]?.progress(1 + Math.floor(random() * 12));
    // Waits for some more turns of the event loop, so that a kill does not always follow an acknowledgement.
    for (let turns = Math.floor(random() * 200); turns > 0; turns--) await setImmediate();
    await kill(side);
    await sides[1 - side]?.progress(3);
    await start(side, shared);
  };

  try {
    for (let kills = 0; kills < killsOfPair; kills += 10) {
      const before = new Map(done);
      const shared = `c0000000-0000-4000-8000-${kills.toString().padStart(12, "0")}`;
      await Promise.all([start(0, shared), start(1, shared)]);
      for (let count = 0; count < 8; count++) await killOne(shared);
      await Promise.all([kill(0), kill(1)]);
      const noted = await notedIn(shared);
      for (const [key, last] of done) {
        for (let count = (before.get(key) ?? 0) + 1; count <= last; count++) {
          expect(noted).toContain(`${key} ${count}`.replaceAll(" ", "-"));
        }
      }
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
  const store = openFiles(new DiskRoot(dataDir), { durability: "full", note: () => {} });
  await store.holdUser(user as UserId, { writes: true, until: performance.now() }, async () => {
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
