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
export class BlockWindow {
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
