/**
 * The outer layer of a WebAssembly binary: its list of sections, and the limits of its memory.
 *
 * A host reads them before an engine compiles the file, so it trusts nothing: it bounds every count before it allocates
 * anything, and throws `UnreadableWasm` for anything it cannot read.
 */
import { pluginLimits } from "./limits.ts";

export interface WasmSection {
  readonly id: number;
  /** The section without its id and length. */
  readonly payload: Uint8Array;
}

export const sectionIds = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  data: 11,
  dataCount: 12,
} as const;

/** The magic word, and version 1. */
const header = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);

/** The bytes are not a module, or exceed a limit of plugins. The message is a clause about the file. */
export class UnreadableWasm extends RangeError {}

export function readSections(wasm: Uint8Array): WasmSection[] {
  if (!header.every((byte, at) => wasm[at] === byte)) throw invalid("its first eight bytes are not those of one");
  const sections: WasmSection[] = [];
  const reader = new WasmReader(wasm, header.length);
  while (!reader.atEnd) {
    const id = reader.byte();
    const length = reader.u32();
    sections.push({ id, payload: reader.bytes(length) });
    if (sections.length > pluginLimits.sectionsMax) {
      throw new UnreadableWasm(`it has over ${pluginLimits.sectionsMax} sections, which is the most allowed`);
    }
  }
  return sections;
}

/** A reader of the section with this id, or of an empty list if the section is absent. */
export function readerOf(sections: readonly WasmSection[], id: number): WasmReader {
  return new WasmReader(sections.find((section) => section.id === id)?.payload ?? Uint8Array.of(0));
}

/** The contents of the custom sections with this name. */
export function customSections(sections: readonly WasmSection[], name: string): Uint8Array[] {
  const custom = sections.filter(({ id }) => id === sectionIds.custom).map(({ payload }) => new WasmReader(payload));
  return custom.filter((reader) => isName(reader.bytes(reader.u32()), name)).map((reader) => reader.rest);
}

/** Compares bytes, so that a name of any length is never decoded. */
function isName(bytes: Uint8Array, name: string): boolean {
  return bytes.length === name.length && bytes.every((byte, at) => byte === name.charCodeAt(at));
}

export interface MemoryLimits {
  readonly min: number;
  /** `null` when the module declares no maximum. */
  readonly max: number | null;
}

/** The limits, in pages, of each memory that the module defines. */
export function readMemoryLimits(sections: readonly WasmSection[]): MemoryLimits[] {
  return readerOf(sections, sectionIds.memory).wholeList("memories", pluginLimits.memoriesMax, (reader) => {
    const flags = reader.byte();
    if (flags > 1) throw new UnreadableWasm("a memory is shared, or has 64-bit addresses, which is not allowed");
    const min = reader.u32();
    return { min, max: flags === 1 ? reader.u32() : null };
  });
}

/** Reads bytes and LEB128 numbers in order. */
export class WasmReader {
  readonly #wasm: Uint8Array;
  #offset: number;

  constructor(wasm: Uint8Array, offset = 0) {
    this.#wasm = wasm;
    this.#offset = offset;
  }

  /** The bytes that have not been read yet. */
  get rest(): Uint8Array {
    return this.#wasm.subarray(this.#offset);
  }

  get atEnd(): boolean {
    return this.#offset >= this.#wasm.length;
  }

  byte(): number {
    const byte = this.#wasm[this.#offset++];
    if (byte === undefined) throw invalid("it ends too early");
    return byte;
  }

  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw invalid("a number in it has more than five bytes");
  }

  bytes(length: number): Uint8Array {
    const end = this.#offset + length;
    if (end > this.#wasm.length) throw invalid("it ends too early");
    const slice = this.#wasm.subarray(this.#offset, end);
    this.#offset = end;
    return slice;
  }

  /** Reads a counted list. Checks the count before it allocates. */
  list<Item>(what: string, countMax: number, readItem: (reader: this) => Item): Item[] {
    const count = this.u32();
    if (count > countMax) throw new UnreadableWasm(`it has ${count} ${what}, at most ${countMax} allowed`);
    return Array.from({ length: count }, () => readItem(this));
  }

  /** Reads a counted list with nothing after it: hidden bytes could take effect when a host rewrites the section. */
  wholeList<Item>(what: string, countMax: number, readItem: (reader: this) => Item): Item[] {
    const items = this.list(what, countMax, readItem);
    if (!this.atEnd) throw invalid(`there is more in it than its ${what}`);
    return items;
  }
}

function invalid(reason: string): UnreadableWasm {
  return new UnreadableWasm(`it is not a valid WebAssembly module: ${reason}`);
}
