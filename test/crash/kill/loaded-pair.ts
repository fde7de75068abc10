/** Two processes that work for the same users, and the possible states of each entry. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import type { UserId } from "../../stage/store.ts";
import { readUserFiles, userFolder } from "../../support/user-files.ts";
import { DiskRoot, FileStore } from "../store-under-test.ts";
import { shownAfter, shownIn } from "./entry-history.ts";
import { LoadedProcess } from "./loaded-process.ts";

const users = ["alice", "bob", "carol", "dave"];
const entriesOf = (side: number): string[] => [1, 2, 3].map((number) => `side-${side}-entry-${number}`);
const allEntries = [0, 1].flatMap(entriesOf);

/** The two processes, and for each entry the calls that can have been its last. */
export class LoadedPair implements Disposable {
  readonly #dataDir: string;
  readonly #random: () => number;
  readonly #possible = new Map<string, Set<number>>();
  #sides: [LoadedProcess, LoadedProcess];
  kills = 0;
  acknowledged = 0;

  constructor(dataDir: string, random: () => number) {
    this.#dataDir = dataDir;
    this.#random = random;
    for (const user of users) {
      for (const entry of allEntries) this.#possible.set(`${user} ${entry}`, new Set([0]));
    }
    this.#sides = [this.#spawn(0), this.#spawn(1)];
  }

  async start(): Promise<void> {
    await Promise.all(this.#sides.map((side) => side.start()));
  }

  /** Kills one process at a random instant while the other continues, and starts a new one in its place. */
  async killOne(): Promise<void> {
    const side = this.#random() < 0.5 ? 0 : 1;
    await this.#sides[side].progress(1 + Math.floor(this.#random() * 12));
    // Waits for some more turns of the event loop, so that a kill does not always follow an acknowledgement.
    for (let turns = Math.floor(this.#random() * 200); turns > 0; turns--) await setImmediate();
    await this.#kill(side);
    await this.#sides[1 - side]?.progress(3);
    this.#sides[side] = this.#spawn(side);
    await this.#sides[side].start();
  }

  /** Kills both, checks everything, and starts both again. */
  async killBoth(): Promise<void> {
    await this.killForGood();
    this.#sides = [this.#spawn(0), this.#spawn(1)];
    await this.start();
  }

  async killForGood(): Promise<void> {
    await Promise.all([this.#kill(0), this.#kill(1)]);
    for (const user of users) await this.#check(user);
  }

  /** Leaves no process behind, however the test ended. */
  [Symbol.dispose](): void {
    for (const side of this.#sides) void side.kill();
  }

  #spawn(side: number): LoadedProcess {
    const next = (user: string, entry: string): number =>
      Math.max(...(this.#possible.get(`${user} ${entry}`) ?? [])) + 1;
    const entries = (user: string): Record<string, number> =>
      Object.fromEntries(entriesOf(side).map((entry) => [entry, next(user, entry)]));
    return new LoadedProcess({
      dataDir: this.#dataDir,
      users: Object.fromEntries(users.map((user) => [user, entries(user)])),
    });
  }

  async #kill(side: 0 | 1): Promise<void> {
    const process = this.#sides[side];
    await process.kill();
    this.kills++;
    this.acknowledged += process.acknowledged;
    if (process.failures.length > 0) throw new Error(process.failures.join("\n"));
    for (const [key, count] of process.done) this.#possible.set(key, new Set([count]));
    for (const user of users) {
      // A user's calls are made in order, so at most one was running: the one after the last acknowledged call.
      const entries = entriesOf(side);
      const last = entries.indexOf(process.lastEntry.get(user) ?? "");
      const possible = this.#possible.get(`${user} ${entries[(last + 1) % entries.length]}`);
      possible?.add(Math.max(...possible) + 1);
    }
  }

  /** Recovers a user like the next process, without waiting for the dead ones, and checks every entry. */
  async #check(user: string): Promise<void> {
    const store = new FileStore(new DiskRoot(this.#dataDir), { durability: "full", note: () => {} });
    await store.hold(user as UserId, { writes: true, until: performance.now() }, async () => {
      const files = readUserFiles(this.#dataDir, user);
      for (const entry of allEntries) {
        const possible = [...(this.#possible.get(`${user} ${entry}`) ?? [])].map(shownAfter);
        const shown = shownIn(files, entry);
        if (!possible.includes(shown))
          throw new Error(`${entry} of ${user} shows ${shown}, possible: ${possible.join()}`);
      }
      const left = readdirSync(join(userFolder(this.#dataDir, user), ".memcell")).filter((name) =>
        /^staged-|damaged/.test(name),
      );
      if (left.length > 0) throw new Error(`left behind: ${left.join()}`);
    });
    await store.close();
  }
}
