import { callLimits } from "../../shared/limits.ts";

/**
 * The kernel functions that copy text, eight bytes per call. The SDK's own functions split an address with six bigints,
 * each a garbage-collected object: with a body of 60 KB that took a third of a call. Here the address is split in two
 * machine words. Its format is still the SDK's: the block number in the upper sixteen bits, then the offset.
 *
 * Block 0 belongs to the SDK: a single byte that stays when the other blocks are dropped between two calls. Guests
 * cannot access it, or they could leave a mark for the next call.
 */

/** The part of the SDK's call context that finds a block. */
export interface BlockFinder {
  read(address: bigint): { arrayBuffer(): ArrayBufferLike } | null;
}

type Access<Rest extends unknown[], Result> = (context: BlockFinder, address: bigint, ...rest: Rest) => Result;

export interface BlockAccess {
  readonly functions: {
    readonly input_length: () => bigint;
    readonly load_u8: Access<[], number>;
    readonly load_u64: Access<[], bigint>;
    readonly store_u8: Access<[byte: number], void>;
    readonly store_u64: Access<[word: bigint], void>;
    readonly input_load_u8: Access<[], number>;
    readonly input_load_u64: Access<[], bigint>;
  };
  /** The block that an address is in, or `null`. */
  find(context: BlockFinder, address: bigint): DataView | null;
  /** Must be called when a block is freed and when a call ends: the remembered block is then invalid. */
  forget(): void;
}

/** `inputOf` returns the bytes of the current call's input. */
export function accessBlocks(inputOf: () => DataView): BlockAccess {
  const address = new BigUint64Array(1);
  const [low, high] = isLittleEndian() ? [0, 1] : [1, 0];
  const halves = new Uint32Array(address.buffer);
  const offset = (): number => (halves[low] ?? 0) + ((halves[high] ?? 0) & 0xffff) * 2 ** 32;

  // Text is copied block by block, so most calls access the same block as the one before.
  let lastNumber = 0;
  let lastBlock: DataView | null = null;
  const find: BlockAccess["find"] = (context, whole) => {
    address[0] = whole;
    const number = (halves[high] ?? 0) >>> 16;
    if (number !== lastNumber) {
      const found = context.read(whole);
      lastBlock = found && new DataView(found.arrayBuffer());
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
      input_length: () => BigInt(inputOf().byteLength),
      load_u8: (context, from) => read(context, from).getUint8(offset()),
      load_u64: (context, from) => read(context, from).getBigUint64(offset(), true),
      // As in the SDK, a write outside all blocks is lost.
      store_u8: (context, to, byte) => find(context, to)?.setUint8(offset(), byte),
      store_u64: (context, to, word) => find(context, to)?.setBigUint64(offset(), word, true),
      input_load_u8: (_context, from) => input(from).getUint8(offset()),
      input_load_u64: (_context, from) => input(from).getBigUint64(offset(), true),
    },
  };
}

const isLittleEndian = (): boolean => new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

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
