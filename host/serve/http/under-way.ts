import { EventEmitter, once } from "node:events";

/** Requests that are not answered yet, so that the end of a server can wait for them. Streams stand until they are ended. */
export class UnderWay {
  #open = 0;
  /** Those that are open and no streams. */
  #answering = 0;
  #isClosing = false;
  readonly #changes = new EventEmitter<{ less: [] }>();

  /** Counts an answer until it is given; it calls `stands` when it turns out to be a stream. */
  async add(answer: (stands: () => void) => Promise<void>): Promise<void> {
    let isAnswering = true;
    const stands = (): void => {
      if (isAnswering) this.#answering--;
      isAnswering = false;
      this.#changes.emit("less");
    };
    this.#open++;
    this.#answering++;
    try {
      await answer(stands);
    } finally {
      this.#open--;
      stands();
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
    await this.#until(() => this.#open === 0, timeMs);
  }

  async #until(isDone: () => boolean, timeMs: number): Promise<void> {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), timeMs);
    const { signal } = over;
    while (!isDone() && !signal.aborted) await once(this.#changes, "less", { signal }).catch(() => null);
    clearTimeout(timer);
  }
}
