/**
 * Three hosts make calls for the same users. Hosts are killed at random instants, and the server as well. In the end
 * every acknowledged change is there, once; so is at most one more for each kill of a host, and none in part.
 */
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { createRuntime, postgresStore } from "memcell";
import { expect, test } from "vitest";

import { openPostgres } from "../../stage/open-store.ts";
import { isLong } from "../../stage/seed.ts";
import type { UserId } from "../../stage/store.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { contentsOf, soon, textIn } from "../store-stage.ts";
import { faultServer, isInner } from "./fault-stage.ts";
import type { LoadOrder } from "./load-host.ts";

const kills = isLong ? 200 : 20;
const users = ["alice", "bob", "carol", "dave"];
const entries = ["one", "two", "three"];
const script = fileURLToPath(new URL("../../../dist/test/store/postgres/load-host.js", import.meta.url));

/** A host in a process of its own, and what it has said of its calls. `wake` is called with every line, and at the end. */
class LoadedHost {
  readonly said: string[] = [];
  hasEnded = false;
  readonly #child;
  readonly #closed: Promise<unknown>;

  constructor(order: LoadOrder, wake: () => void) {
    this.#child = spawn(process.execPath, [script, JSON.stringify(order)], { stdio: ["ignore", "pipe", "inherit"] });
    this.#child.once("exit", () => (this.hasEnded = true));
    this.#closed = once(this.#child, "close").finally(wake);
    createInterface(this.#child.stdout).on("line", (line) => {
      this.said.push(line);
      wake();
    });
  }

  /** The rest of each line that begins with the word. */
  those(word: "ready" | "done" | "failed"): string[] {
    return this.said.flatMap((line) => (line.startsWith(word) ? line.slice(word.length + 1) : []));
  }

  /** Its earlier output is still read. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}

test("kills lose nothing, and add nothing", { timeout: kills * 20_000 }, async () => {
  await using server = await faultServer();
  const random = seededRandom(1);
  const events = new EventEmitter();
  const all: LoadedHost[] = [];
  const start = (): LoadedHost => {
    const order = { url: server.host, users, entries, name: `host${all.length + 1}` };
    const host = new LoadedHost(order, () => events.emit("line"));
    all.push(host);
    return host;
  };
  const running = [start(), start(), start()];
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) {
      if (running.some((host) => host.hasEnded)) throw new Error("A host has ended on its own");
      await once(events, "line");
    }
  };
  const done = (): string[] => all.flatMap((host) => host.those("done"));
  const isReady = (host: LoadedHost): boolean => host.those("ready").length > 0;
  try {
    await until(() => running.every(isReady));
    for (let kill = 1; kill <= kills - running.length; kill++) {
      // After some more calls, and some turns of the event loop, so that not always a call has just ended.
      const wanted = done().length + 1 + Math.floor(random() * 20);
      await until(() => done().length >= wanted);
      for (let turns = Math.floor(random() * 200); turns > 0; turns--) await setImmediate();
      if (kill % 4 === 0) {
        await server.stop("immediate");
        await server.start();
        // No host ends, and each makes calls again.
        const before = running.map((host) => host.those("done").length);
        await until(() => running.every((host, at) => host.those("done").length > (before[at] ?? 0)));
      }
      const at = Math.floor(random() * running.length);
      await running[at]?.kill();
      const next = start();
      running[at] = next;
      await until(() => isReady(next));
    }
  } finally {
    await Promise.all(running.map((host) => host.kill()));
  }
  const failed = all.flatMap((host) => host.those("failed"));
  console.log(`${kills} hosts killed: ${done().length} calls acknowledged, ${failed.length} refused`);

  const found = (await Promise.all(users.map((userId) => bodiesOf(server.host, userId)))).flat();
  expect(done().filter((body) => !found.includes(body))).toEqual([]);
  expect(failed.filter((line) => found.includes(line.split(" ")[0] ?? ""))).toEqual([]);
  expect(new Set(found).size).toBe(found.length);
  expect(found.length - done().length).toBeLessThanOrEqual(kills);
  expect(failed.filter((line) => !/^\S+ STORAGE_BUSY /.test(line) || isInner(line))).toEqual([]);
  await using runtime = await createRuntime({ store: postgresStore({ url: server.host }) });
  for (const userId of users) expect(await runtime.upkeep.inspect({ userId })).toEqual([]);
});

/** The bodies that a user's versions have brought: one each, the last one of each entry as its file has it. */
async function bodiesOf(url: string, userId: string): Promise<string[]> {
  const store = openPostgres({ url });
  const bodies = await store.holdUser(userId as UserId, { ...soon(), writes: false }, async ({ reader, history }) => {
    const versions = await history.versions();
    expect(versions.map(({ seq }) => seq)).toEqual(versions.map((_, at) => at + 1));
    const found: string[] = [];
    for (const [path, texts] of Object.entries(await contentsOf(history))) {
      expect(await textIn(reader, "memory", path)).toBe(texts.at(-1));
      if (path !== "MEMORY.md") found.push(...texts.map((text) => text?.split("\n---\n").at(-1)?.trim() ?? "nothing"));
    }
    return found;
  });
  await store.close();
  return bodies;
}
