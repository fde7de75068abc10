/**
 * The kernel functions that copy text, eight bytes for each call. The SDK's own take an address apart with six
 * bigints, each an object to be collected: with a body of 60 KB that was a third of a call. Here it is taken apart in
 * two machine words. What an address means stays the SDK's: the block's number in its upper sixteen bits, then the
 * offset.
 */

/** The part of the SDK's call context that finds a block: something over its bytes, or `null`. */
interface BlockFinder {
  read(address: bigint): { readonly buffer: ArrayBufferLike } | null;
}

type KernelFunctions = Record<string, (context: BlockFinder, address: bigint, word: bigint) => bigint | undefined>;

/** `inputOf` gives the bytes of the present call's input. */
export function blockAccess(inputOf: () => DataView): KernelFunctions {
  const address = new BigUint64Array(1);
  const [low, high] = isLittleEndian() ? [0, 1] : [1, 0];
  const halves = new Uint32Array(address.buffer);
  const offset = (): number => (halves[low] ?? 0) + ((halves[high] ?? 0) & 0xffff) * 2 ** 32;

  // Text is copied block by block, so the last block is nearly always the one that is asked for. Not more than one is
  // kept: the guest may have freed it.
  let lastNumber = -1;
  let lastBlock: DataView | null = null;
  const blockOf = (context: BlockFinder): DataView | null => {
    const number = (halves[high] ?? 0) >>> 16;
    if (number !== lastNumber) {
      const found = context.read(address[0] ?? 0n);
      lastBlock = found && new DataView(found.buffer);
      lastNumber = found ? number : -1;
    }
    return lastBlock;
  };

  return {
    load_u64: (context, from) => {
      address[0] = from;
      const block = blockOf(context);
      if (block === null) throw new RangeError("A guest reads from no block");
      return block.getBigUint64(offset(), true);
    },
    store_u64: (context, to, word) => {
      address[0] = to;
      // As the SDK does: what is written to no block is lost.
      blockOf(context)?.setBigUint64(offset(), word, true);
      return undefined;
    },
    input_load_u64: (_context, from) => {
      address[0] = from;
      return inputOf().getBigUint64(offset(), true);
    },
  };
}

const isLittleEndian = (): boolean => new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
