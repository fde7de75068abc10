/** Three hosts on one server, which are killed at random instants, and the server with them. */
import { setImmediate } from "node:timers/promises";

import type { PostgresServer } from "../../support/postgres/postgres-server.ts";
import type { LoadOrder } from "./load-host.ts";
import { LoadedHost } from "./loaded-host.ts";

export class LoadedHosts implements Disposable {
  readonly #server: PostgresServer;
  readonly #order: Omit<LoadOrder, "name">;
  readonly #random: () => number;
  readonly #running: LoadedHost[] = [];
  readonly #all: LoadedHost[] = [];
  #wake: () => void = () => {};
  kills = 0;
  serverKills = 0;

  constructor(server: PostgresServer, order: Omit<LoadOrder, "name">, random: () => number) {
    this.#server = server;
    this.#order = order;
    this.#random = random;
  }

  async start(): Promise<void> {
    for (let count = 0; count < 3; count++) this.#running.push(this.#spawn());
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
    await Promise.all(this.#running.splice(0).map((host) => host.kill()));
    this.kills += 3;
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
    const order = { ...this.#order, name: `host${this.#all.length + 1}` };
    const host = new LoadedHost(order, () => this.#wake());
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
