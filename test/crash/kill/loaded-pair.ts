/** Two processes that share a data folder, one of which is killed again and again, and what their calls can have left. */
import { setImmediate } from "node:timers/promises";

import type { LoadWorkload } from "./load-workload.ts";
import { LoadedProcess } from "./loaded-process.ts";

interface Work extends Pick<LoadWorkload, "dataDir" | "kind"> {
  /** The callers of each side, each with its entries. */
  readonly callers: readonly [Callers, Callers];
  /** Whether a call without an answer is made again, and some answers are lost on purpose. */
  readonly repeats: boolean;
}

type Callers = Readonly<Record<string, readonly string[]>>;

export class LoadedPair implements Disposable {
  /** By caller and entry: the calls that can have been the last. */
  readonly possible = new Map<string, ReadonlySet<number>>();
  /** By caller, entry and call: the attempt whose answer was lost. */
  readonly lost = new Map<string, number>();
  kills = 0;
  acknowledged = 0;
  readonly #work: Work;
  readonly #random: () => number;
  readonly #attempts: [number, number] = [0, 0];
  #sides: [LoadedProcess, LoadedProcess];

  constructor(work: Work, random: () => number) {
    this.#work = work;
    this.#random = random;
    for (const callers of work.callers) {
      for (const [caller, entries] of Object.entries(callers)) {
        for (const entry of entries) this.possible.set(`${caller} ${entry}`, new Set([0]));
      }
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

  async killBoth(): Promise<void> {
    await Promise.all([this.#kill(0), this.#kill(1)]);
  }

  async startBoth(): Promise<void> {
    this.#sides = [this.#spawn(0), this.#spawn(1)];
    await this.start();
  }

  /** Lets both end their calls. */
  async stopBoth(): Promise<void> {
    await Promise.all(this.#sides.map((side) => side.stop()));
    for (const side of this.#sides) this.#note(side);
  }

  /** Leaves no process behind, however the test ended. */
  [Symbol.dispose](): void {
    for (const side of this.#sides) void side.kill();
  }

  #spawn(side: 0 | 1): LoadedProcess {
    const { dataDir, kind, repeats } = this.#work;
    const next = (key: string): number => (repeats ? Math.min : Math.max)(...(this.possible.get(key) ?? [])) + 1;
    const callers = Object.entries(this.#work.callers[side]).map(([caller, entries]) => {
      return [caller, Object.fromEntries(entries.map((entry) => [entry, next(`${caller} ${entry}`)]))];
    });
    this.#attempts[side]++;
    return new LoadedProcess({ dataDir, kind, callers: Object.fromEntries(callers), attempt: this.#attempts[side] });
  }

  async #kill(side: 0 | 1): Promise<void> {
    const process = this.#sides[side];
    await process.kill();
    this.kills++;
    this.#note(process);
    for (const [caller, entries] of Object.entries(this.#work.callers[side])) {
      // A caller's calls are made in order, so at most one was running: the one after the last acknowledged call.
      const last = entries.indexOf(process.lastEntry.get(caller) ?? "");
      const key = `${caller} ${entries[(last + 1) % entries.length]}`;
      const possible = this.possible.get(key) ?? new Set();
      this.possible.set(key, new Set([...possible, Math.max(...possible) + 1]));
    }
    const [key, count] = [...process.done].at(-1) ?? [];
    if (!this.#work.repeats || this.kills % 2 === 0 || key === undefined || count === undefined) return;
    // As if the process had been killed between the commit and the answer.
    this.possible.set(key, new Set([count - 1, count]));
    this.lost.set(`${key} ${count}`, this.#attempts[side]);
  }

  #note(process: LoadedProcess): void {
    this.acknowledged += process.acknowledged;
    if (process.failures.length > 0) throw new Error(process.failures.join("\n"));
    for (const [key, count] of process.done) this.possible.set(key, new Set([count]));
  }
}
