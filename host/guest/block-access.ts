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
import { callLimits } from "../../shared/limits.ts";

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

/** The part of the SDK's call context that finds a block. */
export interface BlockFinder {
  read(address: bigint): { arrayBuffer(): ArrayBufferLike } | null;
}

/** By their names in `extism:host/env`. */
export interface CopyFunctions {
  readonly load_u8: (address: bigint) => number;
  readonly load_u64: (address: bigint) => bigint;
  readonly store_u8: (address: bigint, byte: number) => void;
  readonly store_u64: (address: bigint, word: bigint) => void;
  readonly input_load_u8: (offset: bigint) => number;
  readonly input_load_u64: (offset: bigint) => bigint;
}

/** As the SDK declares host functions: with the context first, which binding takes away. */
export type BindableFunctions = {
  readonly [Name in keyof CopyFunctions]: (
    blocks: BlockFinder,
    ...rest: Parameters<CopyFunctions[Name]>
  ) => ReturnType<CopyFunctions[Name]>;
};

interface WindowExports extends CopyFunctions {
  readonly memory: WebAssembly.Memory;
}

/** The most bytes of a block, and of an input, that the module can show. As `block-window.wat` has it. */
export const windowBytes = 524_288;

/** Where the module has its words (`block-window.wat`). */
const wordsStart = 2 * windowBytes;
const blockWord = wordsStart;
const bytesWord = wordsStart + 4;
const changedWord = wordsStart + 8;
const inputWord = wordsStart + 12;

/**
 * `block-window.wat`, assembled, in base64: the host then has no file to read, and no tool to assemble it.
 * `test/unit/block-window.test.ts` compares the two, and prints what has to be here.
 */
export const blockWindowModule: string =
  "AGFzbQEAAAABFQRgAX4Bf2ABfgF+YAJ+fwBgAn5+AAJsBgRob3N0B2xvYWRfdTgAAARob3N0CGxvYWRfdTY0AAEEaG9zdAhzdG9yZV91OAAC" +
  "BGhvc3QJc3RvcmVfdTY0AAMEaG9zdA1pbnB1dF9sb2FkX3U4AAAEaG9zdA5pbnB1dF9sb2FkX3U2NAABAwcGAAECAwABBQQBARERB1cHBm1l" +
  "bW9yeQIAB2xvYWRfdTgABghsb2FkX3U2NAAHCHN0b3JlX3U4AAgJc3RvcmVfdTY0AAkNaW5wdXRfbG9hZF91OAAKDmlucHV0X2xvYWRfdTY0" +
  "AAsK1gIGOQEBfiAAQv///////z+DIQEgAEIwiEGAgMAANQIAUSABQYSAwAA1AgBUcQRAIAGnLQAADwsgABAACzwBAX4gAEL///////8/gyEB" +
  "IABCMIhBgIDAADUCAFEgAUIIfEGEgMAANQIAWHEEQCABpykDAA8LIAAQAQtHAQF+IABC////////P4MhAiAAQjCIQYCAwAA1AgBRIAJBhIDA" +
  "ADUCAFRxBEBBiIDAAEEBNgIAIAKnIAE6AAAPCyAAIAEQAgtKAQF+IABC////////P4MhAiAAQjCIQYCAwAA1AgBRIAJCCHxBhIDAADUCAFhx" +
  "BEBBiIDAAEEBNgIAIAKnIAE3AwAPCyAAIAEQAwsdACAAQYyAwAA1AgBUBEAgAKctAICAIA8LIAAQBAssACAAQYyAwAA1AgBUIABCCHxBjIDA" +
  "ADUCAFhxBEAgAKcpA4CAIA8LIAAQBQs=";

const compiled = new WebAssembly.Module(Buffer.from(blockWindowModule, "base64"));

/** What the module shows. `far` does what it does not show. */
class BlockWindow {
  /** The module's whole memory. */
  readonly memory: Uint8Array;
  readonly #functions: CopyFunctions;
  readonly #view: DataView;
  /** How much of the memory has been used since it was last wiped, from the block's and from the input's place on. */
  #used = { block: 0, input: 0 };

  constructor(far: CopyFunctions) {
    const { exports } = new WebAssembly.Instance(compiled, { host: { ...far } });
    const { memory, ...functions } = exports as unknown as WindowExports;
    this.memory = new Uint8Array(memory.buffer);
    this.#view = new DataView(memory.buffer);
    this.#functions = functions;
  }

  /**
   * The functions, for the SDK. It binds each to its context, and a bound function is no function of a module any more,
   * so that calls of it would take ten times as long: these take note of the context, and stay what they are.
   */
  bindable(note: (blocks: BlockFinder) => void): BindableFunctions {
    for (const each of Object.values(this.#functions)) {
      const bind = (_self: unknown, blocks: BlockFinder): typeof each => {
        note(blocks);
        return each;
      };
      Object.defineProperty(each, "bind", { value: bind });
    }
    return this.#functions as unknown as BindableFunctions;
  }

  showInput(input: Uint8Array): void {
    const isShown = input.byteLength <= windowBytes;
    if (isShown) this.memory.set(input, windowBytes);
    const bytes = isShown ? input.byteLength : 0;
    this.#set(inputWord, bytes);
    this.#used.input = Math.max(this.#used.input, bytes);
  }

  showBlock(number: number, bytes: Uint8Array): void {
    this.hideBlock();
    this.#used.block = Math.max(this.#used.block, bytes.byteLength);
    this.memory.set(bytes, 0);
    this.#set(bytesWord, bytes.byteLength);
    this.#set(blockWord, number);
  }

  hideBlock(): void {
    for (const word of [blockWord, bytesWord, changedWord]) this.#set(word, 0);
  }

  /** Shows nothing, and keeps nothing of what it has shown. */
  wipe(): void {
    this.hideBlock();
    this.#set(inputWord, 0);
    this.memory.fill(0, 0, this.#used.block);
    this.memory.fill(0, windowBytes, windowBytes + this.#used.input);
    this.#used = { block: 0, input: 0 };
  }

  /** The number of the block that it shows; 0 if it shows none. */
  get block(): number {
    return this.#view.getUint32(blockWord, true);
  }

  /** Copies the block back if the guest has written to it. From then on it counts as unchanged. */
  settle(block: Uint8Array): void {
    if (this.#view.getUint32(changedWord, true) === 0) return;
    block.set(this.memory.subarray(0, this.#view.getUint32(bytesWord, true)));
    this.#set(changedWord, 0);
  }

  #set(word: number, value: number): void {
    this.#view.setUint32(word, value, true);
  }
}

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
class BlocksExhausted extends Error {}
