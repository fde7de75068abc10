/** A process under load, and the calls that it has acknowledged so far. */
import { spawn } from "node:child_process";
import { once } from "node:events";

import { compiledScript } from "../store-under-test.ts";
import type { LoadWorkload } from "./load-workload.ts";

export class LoadedProcess {
  /** By caller and entry: the last acknowledged call. */
  readonly done = new Map<string, number>();
  readonly failures: string[] = [];
  acknowledged = 0;
  readonly #child;
  readonly #ready: Promise<void>;
  readonly #closed: Promise<unknown>;
  #rest = "";
  #wake: (() => void) | null = null;

  constructor(workload: LoadWorkload) {
    const script = compiledScript("kill/load-workload.js");
    this.#child = spawn(process.execPath, [script, JSON.stringify(workload)], { stdio: ["pipe", "pipe", "inherit"] });
    this.#closed = once(this.#child, "close");
    this.#ready = new Promise((resolve, reject) => {
      this.#child.stdout.on("data", (text: Buffer) => this.#take(text.toString(), resolve));
      this.#child.once("close", () => {
        reject(new Error("The process ended on its own"));
        this.#wake?.();
      });
    });
    this.#ready.catch(() => {});
  }

  /** Starts making calls. */
  async start(): Promise<void> {
    await this.#ready;
    this.#child.stdin.write("go\n");
  }

  /** Waits until it has acknowledged this many more calls. */
  async progress(calls: number): Promise<void> {
    const wanted = this.acknowledged + calls;
    while (this.acknowledged < wanted) {
      if (this.#child.exitCode !== null) throw new Error(`The process ended with ${this.#child.exitCode}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Kills it at once. Its earlier output is still read. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  #take(text: string, onReady: () => void): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const [kind, caller = "", entry = "", count] = line.split(" ");
      if (kind === "ready") onReady();
      if (kind === "failed") this.failures.push(line);
      if (kind !== "done") continue;
      this.done.set(`${caller} ${entry}`, Number(count));
      this.acknowledged++;
    }
    this.#wake?.();
  }
}
