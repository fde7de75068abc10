/** Requests that are not answered yet, so that the end of a server can wait for them. Streams stand until they are ended. */
export class UnderWay {
  #answering = 0;
  #standing = 0;
  #isClosing = false;
  readonly #waiting = new Set<() => void>();

  /** Counts an answer until it is given; it calls `stands` when it turns out to be a stream. */
  async add(answer: (stands: () => void) => Promise<void>): Promise<void> {
    let isStanding = false;
    this.#answering++;
    try {
      await answer(() => {
        if (isStanding) return;
        isStanding = true;
        this.#answering--;
        this.#standing++;
        this.#look();
      });
    } finally {
      if (isStanding) this.#standing--;
      else this.#answering--;
      this.#look();
    }
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** From here on it is closing. Resolves when all but streams are answered, or the time is over. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await this.#until(() => this.#answering === 0, graceMs);
  }

  /** Resolves when nothing is open any more, or the time is over. */
  async settled(timeMs: number): Promise<void> {
    await this.#until(() => this.#answering + this.#standing === 0, timeMs);
  }

  async #until(isDone: () => boolean, timeMs: number): Promise<void> {
    if (isDone()) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const look = (): void => {
        if (isDone()) finish();
      };
      const timer = setTimeout(finish, timeMs);
      this.#waiting.add(look);
    });
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }
}
