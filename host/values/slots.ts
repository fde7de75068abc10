import type { EndSignal } from "./call-ending.ts";
import type { ToolError } from "./tool-error.ts";

/** How long a call waits, and what ends the wait early. */
export interface Patience {
  /** When the wait ends, on the clock of `performance.now()`. */
  readonly until: number;
  /** Its reason is the error that the wait throws. */
  readonly signal?: EndSignal | undefined;
  /** Returns the error that the wait throws when it was too long. */
  readonly tooLong: (waitedMs: number) => ToolError;
}

interface Waiting {
  readonly start: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** A number of slots, given out in the order of requests. */
export class Slots {
  #free: number;
  /** The waiting callers in order. A set, so that any of them can leave quickly. */
  readonly #line = new Set<Waiting>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when the caller has a slot. The caller must give it back. */
  take({ until, signal, tooLong }: Patience): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const waitMs = Math.max(0, until - performance.now());
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        this.#line.delete(waiting);
      };
      const start = (): void => {
        leave();
        resolve();
      };
      const refuse = (reason: unknown): void => {
        leave();
        reject(reason);
      };
      const waiting = { start, refuse };
      const cancel = (): void => refuse(signal?.reason);
      const timer = setTimeout(() => refuse(tooLong(Math.ceil(waitMs))), waitMs);
      signal?.addEventListener("abort", cancel);
      this.#line.add(waiting);
    });
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Ends the wait of all callers with an error. */
  refuse(error: ToolError): void {
    for (const waiting of this.#line) waiting.refuse(error);
  }

  /** Passes the slot to the caller that has waited longest. Returns `false` if nobody waits. */
  give(): boolean {
    const [next] = this.#line;
    if (next) next.start();
    else this.#free++;
    return next !== undefined;
  }
}

/** Calls of one user run one at a time, in the order they came; calls of different users do not wait for each other. */
export class UserQueue {
  /** The one slot of each user with a running or waiting call. */
  readonly #turns = new Map<string, Slots>();

  /** Does the work when its turn has come. */
  async run<Result>(userId: string, patience: Patience, work: () => Promise<Result>): Promise<Result> {
    patience.signal?.throwIfAborted();
    const turn = this.#turns.get(userId) ?? new Slots(1);
    this.#turns.set(userId, turn);
    await turn.take(patience);
    try {
      return await work();
    } finally {
      if (!turn.give()) this.#turns.delete(userId);
    }
  }

  /** Waits for one turn after another, in the order given, and then does the work. */
  async runAll<Result>(
    [first, ...others]: readonly string[],
    patience: Patience,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (first === undefined) return await work();
    return await this.run(first, patience, () => this.runAll(others, patience, work));
  }
}
