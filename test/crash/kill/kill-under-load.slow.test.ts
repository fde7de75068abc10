/**
 * Two processes with the real runtime work for the same users. One is killed at a random instant, the other continues,
 * and a new process replaces the killed one. Every few kills both die and everything is checked: acknowledged calls
 * are there, at most one unfinished call as well, facts and index agree, and no file is left behind.
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
import { shownAfter, shownIn } from "./entry-history.ts";
import { LoadedProcess } from "./loaded-process.ts";

/** Kills in each of the two pairs, which run concurrently in separate folders. */
const killsOfPair = isLong ? 500 : 30;

const users = ["alice", "bob", "carol", "dave"];
const entriesOf = (side: number): string[] => [1, 2, 3].map((number) => `side-${side}-entry-${number}`);

class LoadedPair implements Disposable {
  /** By user and entry: the calls that can have been the last. */
  readonly possible = new Map<string, ReadonlySet<number>>();
  kills = 0;
  acknowledged = 0;
  readonly #dataDir: string;
  readonly #sides: LoadedProcess[] = [];

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  async start(): Promise<void> {
    await Promise.all([this.#start(0), this.#start(1)]);
  }

  /** Kills one process at a random instant while the other continues, and starts a new one in its place. */
  async killOne(random: () => number): Promise<void> {
    const side = random() < 0.5 ? 0 : 1;
    await this.#sides[side]?.progress(1 + Math.floor(random() * 12));
    // Waits for some more turns of the event loop, so that a kill does not always follow an acknowledgement.
    for (let turns = Math.floor(random() * 200); turns > 0; turns--) await setImmediate();
    await this.#kill(side);
    await this.#sides[1 - side]?.progress(3);
    await this.#start(side);
  }

  async killBoth(): Promise<void> {
    await Promise.all([this.#kill(0), this.#kill(1)]);
  }

  /** Leaves no process behind, however the test ended. */
  [Symbol.dispose](): void {
    for (const side of this.#sides) void side.kill();
  }

  async #start(side: number): Promise<void> {
    const next = (key: string): number => Math.max(0, ...(this.possible.get(key) ?? [])) + 1;
    const callers = users.map((user) => {
      return [user, Object.fromEntries(entriesOf(side).map((entry) => [entry, next(`${user} ${entry}`)]))];
    });
    const process = new LoadedProcess({ dataDir: this.#dataDir, callers: Object.fromEntries(callers) });
    this.#sides[side] = process;
    await process.start();
  }

  async #kill(side: number): Promise<void> {
    const process = this.#sides[side] as LoadedProcess;
    await process.kill();
    this.kills++;
    this.acknowledged += process.acknowledged;
    expect(process.failures).toEqual([]);
    for (const [key, count] of process.done) this.possible.set(key, new Set([count]));
    for (const user of users) {
      // A user's calls are made in order, so at most one was running: the one after the last acknowledged call.
      const entries = entriesOf(side);
      const last = entries.indexOf(process.lastEntry.get(user) ?? "");
      const key = `${user} ${entries[(last + 1) % entries.length]}`;
      const possible = this.possible.get(key) ?? new Set([0]);
      this.possible.set(key, new Set([...possible, Math.max(...possible) + 1]));
    }
  }
}

test.concurrent.for([1, 2])("kills lose nothing, seed %i", { timeout: killsOfPair * 10_000 }, async (seed) => {
  using folder = temporaryFolder();
  using pair = new LoadedPair(folder.path);
  const random = seededRandom(seed);
  for (;;) {
    await pair.start();
    while (pair.kills % 10 < 8) await pair.killOne(random);
    await pair.killBoth();
    for (const user of users) await checkUser(folder.path, user, pair);
    if (pair.kills >= killsOfPair) break;
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
