/** How long a user's WAL is left alone after the last commit. A crash within it costs a recovery, never a write. */
const idleMs = 2_000;
/** How long closing waits for another process that holds a user. */
const closeWaitMs = 2_000;
/** How many users' files are flushed at once: each takes descriptors. */
const retiringMax = 4;

export interface RetireWork<Key> {
  /** Retires a user's WAL, unless another process holds the user for longer than this. */
  readonly retire: (key: Key, waitMs: number) => Promise<void>;
  /** Tells the operator what has failed. Nothing is lost by it: the WAL stays. */
  readonly note: (key: Key, text: string) => void;
}

/** When to retire WALs: those of users who have been idle for a while, and all of them at the end. */
export class RetireSchedule<Key> {
  readonly #work: RetireWork<Key>;
  /** Users with records, by the time of their last commit; the longest idle come first. */
  readonly #used = new Map<Key, number>();
  readonly #running = new Map<Key, Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #isClosing = false;

  constructor(work: RetireWork<Key>) {
    this.#work = work;
  }

  /** A user has committed. */
  noteUse(key: Key): void {
    this.#used.delete(key);
    this.add(key);
  }

  /** A user has records, perhaps those of another process. One who only reads does not put it off. */
  add(key: Key): void {
    if (!this.#used.has(key)) this.#used.set(key, performance.now());
    this.#arm();
  }

  /** Runs a user's retirement in the background. */
  run(key: Key, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.#work.note(key, `the WAL could not be retired (${messageOf(error)})`))
      .finally(() => this.#running.delete(key));
    this.#running.set(key, running);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#timer) clearTimeout(this.#timer);
    await Promise.all(this.#running.values());
    for (const key of this.#used.keys()) {
      this.run(key, () => this.#work.retire(key, closeWaitMs));
      await this.#running.get(key);
    }
    this.#used.clear();
  }

  #arm(): void {
    if (this.#timer || this.#isClosing || this.#used.size === 0) return;
    this.#timer = setTimeout(() => this.#sweep(), idleMs);
    // A process may end without waiting for this: its WALs are retired by whoever uses the user next.
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timer = null;
    const limit = performance.now() - idleMs;
    for (const [key, usedAt] of this.#used) {
      if (usedAt > limit || this.#running.size >= retiringMax) break;
      this.#used.delete(key);
      if (!this.#running.has(key)) this.run(key, () => this.#work.retire(key, 0).finally(() => this.#sweepSoon()));
    }
    this.#arm();
  }

  /** There is room for the next one. */
  #sweepSoon(): void {
    if (this.#isClosing) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#sweep(), 0);
    this.#timer.unref();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "for no known reason");
