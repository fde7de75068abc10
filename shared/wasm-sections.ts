/**
 * The outer layer of a WebAssembly binary: its list of sections, and the limits of its memory.
 *
 * The engine's own reflection tells imports, exports and custom sections, but not how far a memory may grow; that is
 * what this reads. Written for bytes that an engine has already validated; on others it throws a `RangeError`.
 */
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

const headerBytes = 8;

export function readSections(wasm: Uint8Array): WasmSection[] {
  const sections: WasmSection[] = [];
  const reader = new WasmReader(wasm, headerBytes);
  while (!reader.atEnd) {
    const id = reader.byte();
    const length = reader.u32();
    sections.push({ id, payload: reader.bytes(length) });
  }
  return sections;
}

export interface MemoryLimits {
  readonly min: number;
  /** `null` when the module declares no maximum. */
  readonly max: number | null;
}

/** The limits, in pages, of each memory the module defines. */
export function readMemoryLimits(sections: readonly WasmSection[]): MemoryLimits[] {
  const section = sections.find((each) => each.id === sectionIds.memory);
  if (!section) return [];
  const reader = new WasmReader(section.payload);
  return Array.from({ length: reader.u32() }, () => {
    const flags = reader.byte();
    if (flags > 1) throw new RangeError("Cannot read wasm: a memory is shared, or has 64-bit addresses");
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
    if (byte === undefined) throw new RangeError("Cannot read wasm: the file ends inside a section");
    return byte;
  }

  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("Cannot read wasm: a number has more than five bytes");
  }

  bytes(length: number): Uint8Array {
    const end = this.#offset + length;
    if (end > this.#wasm.length) throw new RangeError("Cannot read wasm: a section is longer than the file");
    const slice = this.#wasm.subarray(this.#offset, end);
    this.#offset = end;
    return slice;
  }
}
