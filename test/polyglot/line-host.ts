/** A host program as a process that answers each line of JSON with a line of JSON. */
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import type { HostProgram } from "./host-kind.ts";

/** The first line: what to host. */
export interface Hosted {
  readonly plugin: string;
  readonly dataDir: string;
  readonly sha256?: string;
  readonly limits?: { readonly fuelPolls?: number; readonly deadlineMs?: number };
}

/** A line for each call, in the form of a vector. */
export interface HostedCall {
  readonly tool: string;
  readonly audience?: "host";
  readonly context: { readonly userId?: string; readonly epochMs?: number };
  readonly input?: unknown;
  /** The users' folders were replaced before this call. Only for hosts that must be told. */
  readonly isRenewed?: true;
}

export class LineHost implements AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #complaint = "";

  constructor({ command, args, env }: HostProgram) {
    this.#process = spawn(command, args, { env: { ...process.env, ...env } });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    this.#process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#complaint += text;
    });
    // A program that has ended says why on standard error. A broken pipe or a missing command says less.
    this.#process.stdin.on("error", () => {});
    this.#process.on("error", ({ message }) => {
      this.#complaint += message;
    });
  }

  /** Starts a program with its first line. Rejects with its answer if it refuses. */
  static async start(program: HostProgram, hosted: Hosted): Promise<LineHost> {
    const host = new LineHost(program);
    const answer = await host.ask(hosted);
    if (JSON.stringify(answer) === '{"ok":true}') return host;
    await host[Symbol.asyncDispose]();
    throw new Error(`The host refused: ${JSON.stringify(answer)}`);
  }

  /** Sends a value and waits for the answer to it. */
  async ask(value: object): Promise<unknown> {
    this.#process.stdin.write(`${JSON.stringify(value)}\n`);
    const { value: line, done } = await this.#lines.next();
    if (done) throw new Error(`The host ended without an answer: ${this.#complaint || "it says nothing"}`);
    return JSON.parse(line) as unknown;
  }

  /** Ends the program's input, waits for its end and returns its exit code. */
  async end(): Promise<number | null> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.stdin.end();
      await once(this.#process, "close");
    }
    return this.#process.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}
