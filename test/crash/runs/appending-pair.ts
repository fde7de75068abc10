/** Two processes that append to one run, and what they have acknowledged. */
import { EventEmitter, once } from "node:events";
import { setImmediate } from "node:timers/promises";

import { AppendingSide } from "./appending-side.ts";
import type { SideEvents } from "./appending-side.ts";
import { appendIdOf } from "./batch.ts";

/** While a process is started again, the other one makes at most this many appends: some must be left for all kills. */
const meanwhileMax = 8;

export class AppendingPair implements AsyncDisposable {
  /** By append id: the attempt that was acknowledged. */
  readonly acknowledged = new Map<string, number>();
  kills = 0;
  readonly #random: () => number;
  /** Emits "acknowledged" for each append, and "failed" with an error. */
  readonly #events = new EventEmitter();
  /** Rejects if a process fails, which ends every wait. */
  readonly #failed: Promise<never>;
  readonly #sides: readonly [AppendingSide, AppendingSide];

  constructor(dataDir: string, random: () => number) {
    this.#random = random;
    this.#failed = once(this.#events, "failed").then(([error]) => {
      throw error as Error;
    });
    this.#failed.catch(() => {});
    const on: SideEvents = {
      acknowledged: (append) => {
        this.acknowledged.set(appendIdOf(append), append.attempt);
        this.#events.emit("acknowledged");
      },
      failed: (error) => void this.#events.emit("failed", error),
    };
    this.#sides = [new AppendingSide(dataDir, "left", on), new AppendingSide(dataDir, "right", on)];
  }

  /** By append id: the first attempt whose answer was lost. */
  get lost(): ReadonlyMap<string, number> {
    return new Map(this.#sides.flatMap(({ lost }) => [...lost]));
  }

  async start(): Promise<void> {
    await this.#unlessFailed(Promise.all(this.#sides.map((side) => side.start())));
  }

  /**
   * Kills one process while the other one appends, and starts a new one in its place. Every second time the process
   * has just committed an append, and its answer is lost; otherwise it is at any point of its work.
   */
  async killOne(killsLeft: number): Promise<void> {
    // At most an equal part, so that the last kill still finds some appends.
    await this.#progress(this.#whole(this.#remaining / (killsLeft + 1)));
    const [victim, other] = this.#choose();
    if (this.kills % 2 === 0) await this.#unlessFailed(victim.loseAnswer());
    else for (let turns = this.#whole(2_000); turns > 0; turns--) await setImmediate();
    other.hold(this.#whole(meanwhileMax));
    await victim.kill();
    this.kills++;
    await this.#unlessFailed(victim.start());
    other.release();
  }

  /** Waits until all appends are acknowledged and both processes have ended. */
  async finish(): Promise<void> {
    await this.#progress(this.#remaining);
    await Promise.all(this.#sides.map((side) => side.end()));
  }

  /** Leaves no process behind, however the test ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sides.map((side) => side.kill()));
  }

  get #remaining(): number {
    return this.#sides.reduce((sum, { remaining }) => sum + remaining, 0);
  }

  /** Of the sides that still append. */
  #choose(): readonly [victim: AppendingSide, other: AppendingSide] {
    const [left, right] = this.#sides;
    if (this.#remaining === 0) throw new Error(`All appends were made after ${this.kills} kills`);
    const isLeft = right.remaining === 0 || (left.remaining > 0 && this.#random() < 0.5);
    return isLeft ? [left, right] : [right, left];
  }

  /** A whole number from 0 to below `end`. */
  #whole(end: number): number {
    return Math.floor(this.#random() * end);
  }

  async #progress(appends: number): Promise<void> {
    const wanted = this.acknowledged.size + appends;
    while (this.acknowledged.size < wanted) await this.#unlessFailed(once(this.#events, "acknowledged"));
  }

  #unlessFailed(waiting: Promise<unknown>): Promise<unknown> {
    return Promise.race([waiting, this.#failed]);
  }
}
