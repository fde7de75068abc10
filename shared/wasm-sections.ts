/**
 * The outer layer of a WebAssembly binary: its list of sections, and the limits of its memory.
 *
 * A host reads it before an engine is asked to compile the file, so nothing is believed: every count is bounded before
 * anything is made of it, and what cannot be read is an `UnreadableWasm`.
 */
import { pluginLimits } from "./limits.ts";

export interface WasmSection {
  readonly id: number;
  /** Everything behind the section's length. */
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

/** The bytes are no module, or one with more in it than a plugin may have. The message is a clause about the file. */
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

/** Reads the section of an id; where there is none, an empty list. */
export function readerOf(sections: readonly WasmSection[], id: number): WasmReader {
  return new WasmReader(sections.find((section) => section.id === id)?.payload ?? Uint8Array.of(0));
}

/** What the custom sections of a name hold. */
export function customSections(sections: readonly WasmSection[], name: string): Uint8Array[] {
  const custom = sections.filter(({ id }) => id === sectionIds.custom).map(({ payload }) => new WasmReader(payload));
  return custom.filter((reader) => isName(reader.bytes(reader.u32()), name)).map((reader) => reader.rest);
}

/** Compares without making a text of a name of any length. */
function isName(bytes: Uint8Array, name: string): boolean {
  return bytes.length === name.length && bytes.every((byte, at) => byte === name.charCodeAt(at));
}

export interface MemoryLimits {
  readonly min: number;
  /** `null` when the module declares no maximum. */
  readonly max: number | null;
}

/** The limits, in pages, of each memory the module defines. */
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

  /** What has not been read yet. */
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

  /** A counted list. The count is looked at before anything is made of it. */
  list<Item>(what: string, countMax: number, readItem: (reader: this) => Item): Item[] {
    const count = this.u32();
    if (count > countMax) throw new UnreadableWasm(`it has ${count} ${what}, at most ${countMax} allowed`);
    return Array.from({ length: count }, () => readItem(this));
  }

  /** A counted list with nothing behind it, where a host that writes the section anew would bring it to life. */
  wholeList<Item>(what: string, countMax: number, readItem: (reader: this) => Item): Item[] {
    const items = this.list(what, countMax, readItem);
    if (!this.atEnd) throw invalid(`there is more in it than its ${what}`);
    return items;
  }
}

function invalid(reason: string): UnreadableWasm {
  return new UnreadableWasm(`it is not a valid WebAssembly module: ${reason}`);
}
