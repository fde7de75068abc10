/** Calls of one user run one at a time, in the order they came; calls of different users do not wait for each other. */
export class UserQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(userId: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(userId) ?? Promise.resolve();
    const result = before.then(work, work);
    this.#last.set(userId, result);
    const forget = (): void => {
      if (this.#last.get(userId) === result) this.#last.delete(userId);
    };
    result.then(forget, forget);
    return result;
  }

  /** Resolves when nothing is waiting or running any more. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }
}
