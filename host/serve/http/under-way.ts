import { EventEmitter, once } from "node:events";

/** Counts unanswered requests, so that a closing server can wait for them, but not for streams. */
export class UnderWay {
  #open = 0;
  /** Open requests that are not streams. */
  #answering = 0;
  #isClosing = false;
  readonly #changes = new EventEmitter<{ less: [] }>();

  /** Counts a request until it is answered. `answer` calls `stands` if the answer is a stream. */
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

  /** Begins to close. Resolves when all requests except streams are answered, or after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await this.#until(() => this.#answering === 0, graceMs);
  }

  /** Resolves when nothing is open, or after `timeMs`. */
  async settled(timeMs: number): Promise<void> {
    await this.#until(() => this.#open === 0, timeMs);
  }

  async #until(isDone: () => boolean, timeMs: number): Promise<void> {
    const signal = AbortSignal.timeout(timeMs);
    while (!isDone() && !signal.aborted) await once(this.#changes, "less", { signal }).catch(() => null);
  }
}
