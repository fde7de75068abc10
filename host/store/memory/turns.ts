import { setTimeout } from "node:timers/promises";

import { ToolError } from "../../values/tool-error.ts";
import type { HoldOptions } from "../store.ts";

/** How often whoever waits looks again: as often as for a lock on a disk. */
const pollMs = 1;

/** Who holds a user, and who waits for it, in the order in which they came. */
export class Turns {
  readonly #line = new Set<symbol>();

  /** Nobody holds the user, and nobody waits. */
  get isIdle(): boolean {
    return this.#line.size === 0;
  }

  /** Resolves when it is the caller's turn, with what ends it. Throws `BUSY` when that takes too long. */
  async take({ until, signal }: Pick<HoldOptions, "until" | "signal">): Promise<Disposable> {
    const start = performance.now();
    const turn = Symbol("turn");
    this.#line.add(turn);
    try {
      while (this.#next !== turn) {
        signal?.throwIfAborted();
        if (performance.now() >= until) {
          const waitedMs = Math.round(performance.now() - start);
          throw new ToolError("BUSY", `Cannot use the user's folder: it has been in use for ${waitedMs} ms`);
        }
        await setTimeout(pollMs);
      }
    } catch (error) {
      this.#line.delete(turn);
      throw error;
    }
    return { [Symbol.dispose]: () => void this.#line.delete(turn) };
  }

  get #next(): symbol | undefined {
    const [next] = this.#line;
    return next;
  }
}
