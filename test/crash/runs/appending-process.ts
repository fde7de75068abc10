/** A process that appends what it is asked to, and its answers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { compiledScript } from "../store-under-test.ts";
import type { Answer } from "./append-workload.ts";
import type { Append } from "./batch.ts";

export interface ProcessEvents {
  readonly answered: (answer: Answer) => void;
  /** It has ended on its own. */
  readonly failed: (error: Error) => void;
}

export class AppendingProcess {
  readonly ready: Promise<void>;
  readonly #child;
  readonly #closed: Promise<unknown>;
  readonly #printed: Promise<unknown>;
  #mayEnd = false;

  constructor(dataDir: string, on: ProcessEvents) {
    const script = compiledScript("runs/append-workload.js");
    this.#child = spawn(process.execPath, [script, dataDir], { stdio: ["pipe", "pipe", "inherit"] });
    // An append that was asked for just before a kill cannot be written to the pipe any more.
    this.#child.stdin.on("error", () => {});
    this.#child.once("close", (code, signal) => {
      if (!this.#mayEnd) on.failed(new Error(`A process ended on its own with ${code ?? signal}`));
    });
    this.#closed = once(this.#child, "close");
    const lines = createInterface({ input: this.#child.stdout });
    this.#printed = once(lines, "close");
    this.ready = new Promise((resolve) => {
      lines.on("line", (line) => (line === "ready" ? resolve() : on.answered(JSON.parse(line) as Answer)));
    });
  }

  ask(append: Append): void {
    this.#child.stdin.write(`${JSON.stringify(append)}\n`);
  }

  /** Kills it at once. Its earlier answers are still read. */
  async kill(): Promise<void> {
    this.#mayEnd = true;
    this.#child.kill("SIGKILL");
    await Promise.all([this.#closed, this.#printed]);
  }

  /** Lets it end on its own. Throws if it fails. */
  async end(): Promise<void> {
    this.#mayEnd = true;
    this.#child.stdin.end();
    await Promise.all([this.#closed, this.#printed]);
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== 0) throw new Error(`A process ended with ${exitCode ?? signalCode}`);
  }
}
