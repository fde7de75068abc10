/**
 * Three hosts make calls for the same users. Hosts are killed at random instants, and the server as well. In the end
 * every acknowledged change is there, once; so is at most one more for each kill of a host, and none in part.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { createRuntime, postgresStore } from "memcell";
import { expect, test } from "vitest";

import { isLong } from "../../stage/seed.ts";
import type { UserId } from "../../stage/store.ts";
import type { PostgresServer } from "../../support/postgres/postgres-server.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { contentsOf, textIn } from "../home.ts";
import { soon } from "../store-stage.ts";
import { faultServer, isInner } from "./fault-stage.ts";
import type { LoadOrder } from "./load-host.ts";

const [kills, serverKills] = isLong ? [200, 50] : [40, 10];
const users = ["alice", "bob", "carol", "dave"];
const entries = ["one", "two", "three"];
const script = fileURLToPath(new URL("../../../dist/test/store/postgres/load-host.js", import.meta.url));

/** A host in a process of its own, and what it has said of its calls. */
class LoadedHost {
  readonly done: string[] = [];
  /** By the body of the call: code and message. */
  readonly failed = new Map<string, string>();
  readonly #child;
  readonly #closed: Promise<unknown>;
  readonly #onLine: () => void;
  isReady = false;
  #rest = "";

  /** `onLine` hears of every line, and of the end. */
  constructor(order: LoadOrder, onLine: () => void) {
    this.#onLine = onLine;
    this.#child = spawn(process.execPath, [script, JSON.stringify(order)], { stdio: ["ignore", "pipe", "inherit"] });
    this.#closed = once(this.#child, "close").finally(onLine);
    this.#child.stdout.on("data", (text: Buffer) => this.#take(text.toString()));
  }

  /** Throws if it has ended on its own. */
  checkRunning(): void {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) throw new Error(`A host ended with ${exitCode ?? signalCode}`);
  }

  /** Its earlier output is still read. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const [kind, body = "", ...rest] = line.split(" ");
      if (kind === "ready") this.isReady = true;
      if (kind === "done") this.done.push(body);
      if (kind === "failed") this.failed.set(body, rest.join(" "));
    }
    this.#onLine();
  }
}

/** Hosts on one server, which are killed at random instants, and the server with them. */
class LoadedHosts implements Disposable {
  readonly #server: PostgresServer;
  readonly #url: string;
  readonly #random = seededRandom(1);
  readonly #running: LoadedHost[] = [];
  readonly #all: LoadedHost[] = [];
  #wake: () => void = () => {};
  kills = 0;
  serverKills = 0;

  constructor(server: PostgresServer, url: string) {
    this.#server = server;
    this.#url = url;
  }

  async start(count: number): Promise<void> {
    for (let at = 0; at < count; at++) this.#running.push(this.#spawn());
    await this.#until(() => this.#running.every(({ isReady }) => isReady));
  }

  /** Kills one host, and starts another one in its place. The others go on. */
  async killHost(): Promise<void> {
    await this.#instant();
    const at = Math.floor(this.#random() * this.#running.length);
    await this.#running[at]?.kill();
    this.kills++;
    const next = this.#spawn();
    this.#running[at] = next;
    await this.#until(() => next.isReady);
  }

  /** Ends the server without a word to anybody, and starts it again. No host ends, and each makes calls again. */
  async killServer(): Promise<void> {
    await this.#instant();
    await this.#server.stop("immediate");
    await this.#server.start();
    this.serverKills++;
    const done = this.#running.map((host) => host.done.length);
    await this.#until(() => this.#running.every((host, at) => host.done.length > (done[at] ?? 0)));
  }

  async killAll(): Promise<void> {
    this.kills += this.#running.length;
    await Promise.all(this.#running.splice(0).map((host) => host.kill()));
  }

  /** The bodies of all acknowledged calls. */
  get done(): string[] {
    return this.#all.flatMap((host) => host.done);
  }

  get failed(): Map<string, string> {
    return new Map(this.#all.flatMap((host) => [...host.failed]));
  }

  [Symbol.dispose](): void {
    for (const host of this.#running) void host.kill();
  }

  #spawn(): LoadedHost {
    const name = `host${this.#all.length + 1}`;
    const host = new LoadedHost({ url: this.#url, users, entries, name }, () => this.#wake());
    this.#all.push(host);
    return host;
  }

  /** After some more calls, and some turns of the event loop, so that not always a call has just ended. */
  async #instant(): Promise<void> {
    const wanted = this.done.length + 1 + Math.floor(this.#random() * 20);
    await this.#until(() => this.done.length >= wanted);
    for (let turns = Math.floor(this.#random() * 200); turns > 0; turns--) await setImmediate();
  }

  async #until(isSo: () => boolean): Promise<void> {
    for (;;) {
      for (const host of this.#running) host.checkRunning();
      if (isSo()) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

test("kills lose nothing, and add nothing", { timeout: kills * 20_000 }, async () => {
  await using server = await faultServer();
  using hosts = new LoadedHosts(server, server.host);
  const beganMs = performance.now();
  await hosts.start(3);
  while (hosts.kills < kills - 3) {
    await hosts.killHost();
    if (hosts.serverKills < Math.floor((hosts.kills * serverKills) / (kills - 3))) await hosts.killServer();
  }
  await hosts.killAll();
  const { done, failed } = hosts;
  const seconds = Math.round((performance.now() - beganMs) / 1_000);
  console.log(`${hosts.kills} hosts and ${hosts.serverKills} servers killed, in ${seconds} s:`);
  console.log(`${done.length} calls acknowledged, ${failed.size} refused`);

  const found = (await Promise.all(users.map((userId) => bodiesOf(server.host, userId)))).flat();
  expect(done.filter((body) => !found.includes(body))).toEqual([]);
  expect([...failed.keys()].filter((body) => found.includes(body))).toEqual([]);
  expect(new Set(found).size).toBe(found.length);
  expect(found.length - done.length).toBeLessThanOrEqual(hosts.kills);
  const refusals = [...new Set(failed.values())];
  expect(refusals.filter((text) => !text.startsWith("STORAGE_BUSY ") || isInner(text))).toEqual([]);
  await using runtime = await createRuntime({ store: postgresStore({ url: server.host }) });
  for (const userId of users) expect(await runtime.upkeep.inspect({ userId })).toEqual([]);
});

/** The bodies that a user's versions have brought: one each, the last one of each entry as its file has it. */
async function bodiesOf(url: string, userId: string): Promise<string[]> {
  const store = postgresStore({ url }).open(() => {});
  const bodies = await store.hold(userId as UserId, { ...soon(), writes: false }, async ({ reader, history }) => {
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
