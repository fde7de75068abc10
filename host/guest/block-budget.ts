import { callLimits } from "../../shared/limits.ts";

/** Bounds a call's blocks, which neither the guest's memory maximum nor the thread's limits count. */
export class BlockBudget {
  #count = 0;
  #bytes = 0;
  #isExhausted = false;

  /** Stays true once the budget was exceeded: a guest can catch the error and continue. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Counts a block before it is made, by the guest or by the host. */
  take(bytes: number): void {
    const { blockBytesMax, blocksMax } = callLimits;
    this.#isExhausted ||= bytes < 0 || this.#bytes + bytes > blockBytesMax || this.#count >= blocksMax;
    if (this.#isExhausted) throw new BlocksExhausted();
    this.#count++;
    this.#bytes += bytes;
  }

  /** Returns the bytes of a freed block. The block still counts, because its number is never reused. */
  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** Ends the guest's run, unless the guest can catch exceptions of host functions. */
export class BlocksExhausted extends Error {}
