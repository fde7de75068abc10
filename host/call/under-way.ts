/** Counts what is under way, so that an end can wait for the last of it. */
export class UnderWay {
  #count = 0;
  readonly #onIdle: (() => void)[] = [];

  /** Disposing of what it returns ends it. */
  begin(): Disposable {
    this.#count++;
    return {
      [Symbol.dispose]: () => {
        this.#count--;
        if (this.#count === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
      },
    };
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }
}
