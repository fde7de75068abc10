import { callLimits } from "../../shared/limits.ts";

/**
 * The kernel functions that copy text, eight bytes for each call. The SDK's own take an address apart with six
 * bigints, each an object to be collected: with a body of 60 KB that was a third of a call. Here it is taken apart in
 * two machine words. What an address means stays the SDK's: the block's number in its upper sixteen bits, then the
 * offset.
 *
 * Block 0 is the SDK's own, a single byte that stays when the others are dropped between two calls. For a guest it does
 * not exist: it could leave a mark there.
 */

/** The part of the SDK's call context that finds a block: something over its bytes, or `null`. */
export interface BlockFinder {
  read(address: bigint): { bytes(): Uint8Array } | null;
}

type Access<Rest extends unknown[], Result> = (context: BlockFinder, address: bigint, ...rest: Rest) => Result;

export interface BlockAccess {
  readonly functions: {
    readonly load_u8: Access<[], number>;
    readonly load_u64: Access<[], bigint>;
    readonly store_u8: Access<[byte: number], void>;
    readonly store_u64: Access<[word: bigint], void>;
    readonly input_load_u8: Access<[], number>;
    readonly input_load_u64: Access<[], bigint>;
  };
  /** The block that an address is in, or `null`. */
  find(context: BlockFinder, address: bigint): DataView | null;
  /** To be called when a block is freed and when a call ends: its number may be another's then. */
  forget(): void;
}

/** `inputOf` gives the bytes of the present call's input. */
export function accessBlocks(inputOf: () => DataView): BlockAccess {
  const address = new BigUint64Array(1);
  const [low, high] = isLittleEndian() ? [0, 1] : [1, 0];
  const halves = new Uint32Array(address.buffer);
  const offset = (): number => (halves[low] ?? 0) + ((halves[high] ?? 0) & 0xffff) * 2 ** 32;

  // Text is copied block by block, so the last block is nearly always the one that is asked for.
  let lastNumber = 0;
  let lastBlock: DataView | null = null;
  const find: BlockAccess["find"] = (context, whole) => {
    address[0] = whole;
    const number = (halves[high] ?? 0) >>> 16;
    if (number !== lastNumber) {
      const found = context.read(whole)?.bytes();
      lastBlock = found ? new DataView(found.buffer, found.byteOffset, found.byteLength) : null;
      lastNumber = found ? number : 0;
    }
    return lastBlock;
  };
  const forget = (): void => {
    lastNumber = 0;
    lastBlock = null;
  };
  const read = (context: BlockFinder, whole: bigint): DataView => {
    const block = find(context, whole);
    if (block === null) throw new RangeError("A guest reads from no block");
    return block;
  };
  const input = (whole: bigint): DataView => {
    address[0] = whole;
    return inputOf();
  };

  return {
    find,
    forget,
    functions: {
      load_u8: (context, from) => read(context, from).getUint8(offset()),
      load_u64: (context, from) => read(context, from).getBigUint64(offset(), true),
      // As the SDK does: what is written to no block is lost.
      store_u8: (context, to, byte) => find(context, to)?.setUint8(offset(), byte),
      store_u64: (context, to, word) => find(context, to)?.setBigUint64(offset(), word, true),
      input_load_u8: (_context, from) => input(from).getUint8(offset()),
      input_load_u64: (_context, from) => input(from).getBigUint64(offset(), true),
    },
  };
}

const isLittleEndian = (): boolean => new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

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
