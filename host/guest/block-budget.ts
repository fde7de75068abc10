import { callLimits } from "../../shared/limits.ts";

/** Blocks lie outside the guest's memory, where neither its maximum nor the thread's limits see them. */
export class BlockBudget {
  #count = 0;
  #bytes = 0;
  #isExhausted = false;

  /** Once it was exceeded nothing is given any more: a guest may have caught the error. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Counts a block that is about to be made, whoever makes it. */
  take(bytes: number): void {
    const { blockBytesMax, blocksMax } = callLimits;
    this.#isExhausted ||= bytes < 0 || this.#bytes + bytes > blockBytesMax || this.#count >= blocksMax;
    if (this.#isExhausted) throw new BlocksExhausted();
    this.#count++;
    this.#bytes += bytes;
  }

  /** What a freed block took. Its number is never given out again, so it goes on counting. */
  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** Ends the guest's run, unless its code can catch what a host function throws. */
export class BlocksExhausted extends Error {}
