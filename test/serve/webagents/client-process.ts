/** A process with the real clients of one or several agents, which does what the test asks of it. */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

import { isolation } from "../../support/python-packages.ts";

const script = fileURLToPath(new URL("drive.py", import.meta.url));

export interface AskedClient {
  readonly client: "memory" | "memory_as_released" | "scoped" | "notes";
  /** What the client is made with. The same settings are the same client. */
  readonly settings?: object;
  /** One of its functions. */
  readonly call: string;
  readonly args?: object;
  /** Who talks to the agent, as its own checks have established. */
  readonly caller?: object;
}

/** What the function returned, or what it raised. */
export type Reply = { readonly result: unknown } | { readonly raised: string };

export class ClientProcess implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #interface: Interface;

  constructor(python: string, serverUrl: string, home: string) {
    // Nothing of the machine's user: no stored keys, no settings of another platform.
    const env = { HOME: home, PATH: process.env["PATH"], ROBUTLER_API_URL: serverUrl };
    this.#process = spawn(python, [...isolation, script], { stdio: ["pipe", "pipe", "inherit"], env, cwd: home });
    this.#interface = createInterface({ input: this.#process.stdout });
    this.#lines = this.#interface[Symbol.asyncIterator]();
  }

  /** Asks one thing after the other. */
  async ask(asked: AskedClient): Promise<Reply> {
    this.#process.stdin.write(`${JSON.stringify(asked)}\n`);
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error("The process with the clients has ended");
    return JSON.parse(value) as Reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#process, "close");
    this.#process.stdin.end();
    await closed;
    this.#interface.close();
  }
}
