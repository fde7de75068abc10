/** How long a user's journal is left alone after the last commit. A crash within it costs a recovery, never a write. */
const idleMs = 2_000;
/** How long closing waits for another process that holds a user. */
const closeWaitMs = 2_000;

/** When to retire journals: those of users who have been idle for a while, and all of them at the end. */
export class RetireSchedule<Key> {
  readonly #retire: (key: Key, waitMs: number) => Promise<void>;
  /** Users with records, by the time of their last commit; the longest idle come first. */
  readonly #used = new Map<Key, number>();
  readonly #running = new Map<Key, Promise<void>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(retire: (key: Key, waitMs: number) => Promise<void>) {
    this.#retire = retire;
  }

  noteUse(key: Key): void {
    this.#used.delete(key);
    this.#used.set(key, performance.now());
    this.#arm();
  }

  /** Runs a user's retirement in the background. A failure is not lost: the journal stays, and the next call sees it. */
  run(key: Key, work: () => Promise<void>): void {
    const running = work()
      .catch(() => {})
      .finally(() => this.#running.delete(key));
    this.#running.set(key, running);
  }

  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    await Promise.all(this.#running.values());
    const keys = [...this.#used.keys()];
    this.#used.clear();
    for (const key of keys) await this.#retire(key, closeWaitMs).catch(() => {});
  }

  #arm(): void {
    if (this.#timer || this.#used.size === 0) return;
    this.#timer = setTimeout(() => this.#sweep(), idleMs);
    // A process may end without waiting for this: its journals are then retired by whoever comes next.
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timer = null;
    const limit = performance.now() - idleMs;
    for (const [key, usedAt] of this.#used) {
      if (usedAt > limit) break;
      this.#used.delete(key);
      if (!this.#running.has(key)) this.run(key, () => this.#retire(key, 0));
    }
    this.#arm();
  }
}
