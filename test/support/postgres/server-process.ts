/** A running `postgres`. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, statSync, watch } from "node:fs";

import { atProcessEnd } from "../at-process-end.ts";
import { asServerUser } from "./server-user.ts";

export class ServerProcess {
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  /** @param output An open file. A pipe to a test that is busy would make the server wait. */
  constructor([program = "", ...args]: readonly string[], folder: string, output: number) {
    this.#folder = folder;
    this.#child = spawn(program, args, { ...asServerUser(folder), stdio: ["ignore", output, output] });
    this.#ended = new Promise((resolve) => this.#child.once("exit", () => resolve()));
  }

  /** @throws if the program cannot be started */
  async spawned(): Promise<void> {
    await once(this.#child, "spawn");
    this.#child.once("exit", atProcessEnd('kill -QUIT "$1"; rm -rf "$2"', `${this.pid}`, this.#folder));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  ended(): Promise<void> {
    return this.#ended;
  }

  /** Does nothing if the server has ended. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
  }
}

/**
 * Returns when the server accepts connections. If this process ends before the server, the folder is removed.
 *
 * @throws if it ends before. The message has what it logged.
 */
export async function runServer(command: readonly string[], folder: string, log: string): Promise<ServerProcess> {
  const output = openSync(log, "a");
  const start = statSync(log).size;
  const logged = (): string => readFileSync(log).subarray(start).toString("utf8");
  // Watches before the server starts, so that no line comes too early.
  const watcher = watch(log);
  try {
    const server = new ServerProcess(command, folder, output);
    await server.spawned();
    const ready = new Promise<void>((resolve) => {
      const look = (): void => {
        if (/system is ready to accept (?:read-only )?connections/.test(logged())) resolve();
      };
      watcher.on("change", look);
      look();
    });
    await Promise.race([ready, server.ended()]);
    if (server.isRunning) return server;
    throw new Error(`PostgreSQL ended before it was ready:\n${logged()}`);
  } finally {
    watcher.close();
    closeSync(output);
  }
}
