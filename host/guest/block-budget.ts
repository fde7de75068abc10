import { callLimits } from "../../shared/limits.ts";

/** Blocks lie outside the guest's memory, where neither its maximum nor the thread's limits see them. */
export class BlockBudget {
  #count = 0;
  #bytes = 0;

  /** Counts a block that is about to be made, whoever makes it. */
  take(bytes: number): void {
    this.#count++;
    this.#bytes += bytes;
    const isOver = bytes < 0 || this.#bytes > callLimits.blockBytesMax || this.#count > callLimits.blocksMax;
    if (isOver) throw new BlocksExhausted();
  }

  /** What a freed block took. Its number is never given out again, so it goes on counting. */
  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** Ends the guest's run. */
export class BlocksExhausted extends Error {}
