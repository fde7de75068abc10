/**
 * The kernel functions that copy text, eight bytes per call. The SDK's own functions take a third of a call with a body of
 * 60 KB. These are functions of a small module (`block-window.wat`), which has a copy of the block that is accessed most.
 * What the guest changes there is written back before anybody else looks at the block. All other accesses come to this
 * file, which accesses blocks themselves by the SDK's rules.
 *
 * An address is the SDK's: the block's number in the upper sixteen bits, then the offset. Block 0 belongs to the SDK: a
 * single byte that stays when the other blocks are dropped between two calls. Guests cannot access it, or they could
 * leave a mark for the next call.
 */
import { BlockWindow, windowBytes } from "./block-window.ts";
import type { BindableFunctions, BlockFinder } from "./block-window.ts";

/** A block that the window does not show. */
interface NearBlock {
  readonly number: number;
  readonly view: DataView;
  /** After so many more accesses in a row the window shows it. */
  accessesLeft: number;
}

type Access<Value> = (block: DataView, at: number) => Value;

/** About what one access here costs, in bytes that could have been copied in that time. */
const bytesPerAccess = 1_024;

export class BlockAccess {
  readonly functions: BindableFunctions;
  readonly window: BlockWindow;
  #blocks: BlockFinder | null = null;
  /** The block that the window has a copy of. */
  #shown: Uint8Array | null = null;
  /** The block that was last accessed here. */
  #near: NearBlock | null = null;
  #input = new DataView(new ArrayBuffer(0));

  constructor() {
    this.window = new BlockWindow({
      load_u8: (from) => this.#read(from, (block, at) => block.getUint8(at)),
      load_u64: (from) => this.#read(from, (block, at) => block.getBigUint64(at, true)),
      store_u8: (to, byte) => this.#access(to, (block, at) => block.setUint8(at, byte)),
      store_u64: (to, word) => this.#access(to, (block, at) => block.setBigUint64(at, word, true)),
      input_load_u8: (from) => this.#input.getUint8(offsetIn(from)),
      input_load_u64: (from) => this.#input.getBigUint64(offsetIn(from), true),
    });
    this.functions = this.window.bindable((blocks) => {
      this.#blocks = blocks;
    });
  }

  /** Begins a call with its input. */
  begin(input: Uint8Array<ArrayBuffer>): void {
    this.#input = new DataView(input.buffer, input.byteOffset, input.byteLength);
    this.window.showInput(input);
  }

  get inputBytes(): number {
    return this.#input.byteLength;
  }

  /** The block that an address is in, or `null`. */
  find(address: bigint): DataView | null {
    this.settle();
    const found = numberIn(address) === 0 ? null : this.#blocks?.read(address);
    return found ? new DataView(found.arrayBuffer()) : null;
  }

  /** Must be called before anybody else looks at a block. */
  settle(): void {
    if (this.#shown !== null) this.window.settle(this.#shown);
  }

  /** Must be called when a block is freed. */
  forget(): void {
    this.settle();
    this.window.hideBlock();
    this.#shown = null;
    this.#near = null;
  }

  /** Ends a call: nothing of it is left here. */
  end(): void {
    this.forget();
    this.#input = new DataView(new ArrayBuffer(0));
    this.window.wipe();
  }

  #read<Value>(address: bigint, access: Access<Value>): Value {
    const value = this.#access(address, access);
    if (value === undefined) throw new RangeError("A guest reads from no block");
    return value;
  }

  /**
   * Accesses a block itself. As in the SDK, a write outside all blocks is lost. When a block has been accessed here so often
   * that a copy would have cost no more, the window shows it: a guest that accesses two large blocks in turns does not have
   * them copied each time.
   */
  #access<Value>(address: bigint, access: Access<Value>): Value | undefined {
    const number = numberIn(address);
    // What the window shows and does not do itself is beyond the block's end.
    if (number !== 0 && number === this.window.block) this.forget();
    const near = this.#near?.number === number ? this.#near : this.#approach(address);
    if (near === null) return undefined;
    const value = access(near.view, offsetIn(address));
    if (--near.accessesLeft < 0) this.#show(near);
    return value;
  }

  #approach(address: bigint): NearBlock | null {
    const number = numberIn(address);
    const found = number === 0 ? null : this.#blocks?.read(address);
    if (!found) return null;
    const view = new DataView(found.arrayBuffer());
    const isTooLarge = view.byteLength > windowBytes;
    this.#near = { number, view, accessesLeft: isTooLarge ? Infinity : Math.floor(view.byteLength / bytesPerAccess) };
    return this.#near;
  }

  #show({ number, view }: NearBlock): void {
    this.forget();
    const block = new Uint8Array(view.buffer);
    this.window.showBlock(number, block);
    this.#shown = block;
  }
}

const numberIn = (address: bigint): number => Number(BigInt.asUintN(16, address >> 48n));
const offsetIn = (address: bigint): number => Number(BigInt.asUintN(48, address));
