/** A host under load in a process of its own, and what it has said of its calls. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import type { LoadOrder } from "./load-host.ts";

const script = fileURLToPath(new URL("../../../dist/test/store/postgres/load-host.js", import.meta.url));

export class LoadedHost {
  readonly done: string[] = [];
  /** By the body of the call: code and message. */
  readonly failed = new Map<string, string>();
  readonly #child;
  readonly #closed: Promise<unknown>;
  readonly #onLine: () => void;
  #isReady = false;
  #rest = "";

  /** `onLine` hears of every line, and of the end. */
  constructor(order: LoadOrder, onLine: () => void) {
    this.#onLine = onLine;
    this.#child = spawn(process.execPath, [script, JSON.stringify(order)], { stdio: ["ignore", "pipe", "inherit"] });
    this.#closed = once(this.#child, "close").finally(onLine);
    this.#child.stdout.on("data", (text: Buffer) => this.#take(text.toString()));
  }

  get isReady(): boolean {
    return this.#isReady;
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
      if (kind === "ready") this.#isReady = true;
      if (kind === "done") this.done.push(body);
      if (kind === "failed") this.failed.set(body, rest.join(" "));
    }
    this.#onLine();
  }
}
