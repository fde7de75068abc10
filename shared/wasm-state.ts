/**
 * Reads which parts of an instance can change while it runs, apart from its memory: tables, mutable globals, and
 * segments that an instruction can drop. By the WebAssembly standard, no other part of an instance changes.
 */
import { readerOf, sectionIds } from "./wasm-sections.ts";
import type { WasmReader, WasmSection } from "./wasm-sections.ts";

export interface ChangingParts {
  readonly tablesCount: number;
  /** Indices of mutable globals. */
  readonly globals: readonly number[];
}

export interface WasmGlobal {
  /** The type's byte in the binary format. */
  readonly type: number;
  readonly isMutable: boolean;
}

const numberTypes: ReadonlySet<number> = new Set([0x7f, 0x7e]);
const functionReference = 0x70;

/**
 * Returns the changing parts of a module that imports only functions. Returns `null` when JavaScript cannot read and
 * restore one of them without loss (a float has bits that a number drops), or when it cannot be read at all.
 */
export function readChangingParts(sections: readonly WasmSection[]): ChangingParts | null {
  try {
    if (hasPassiveSegments(sections)) return null;
    const tables = readList(sections, sectionIds.table, readTable);
    const globals = readGlobals(sections);
    const mutable = [...globals.entries()].filter(([, { isMutable }]) => isMutable);
    if (tables.some((type) => type !== functionReference)) return null;
    if (mutable.some(([, { type }]) => !numberTypes.has(type))) return null;
    return { tablesCount: tables.length, globals: mutable.map(([index]) => index) };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The globals that a module defines. Throws `RangeError` when they cannot be read. */
export function readGlobals(sections: readonly WasmSection[]): WasmGlobal[] {
  return readList(sections, sectionIds.global, readGlobal);
}

/** Nothing shows from outside that a passive segment was dropped. Active ones are dropped before the first call. */
function hasPassiveSegments(sections: readonly WasmSection[]): boolean {
  const data = readList(sections, sectionIds.data, (reader) => {
    const flags = reader.u32();
    if (flags === 2) reader.u32();
    if (flags !== 1) skipConstant(reader);
    reader.bytes(reader.u32());
    return flags === 1;
  });
  return data.includes(true) || !hasOnlyPlainElements(readerOf(sections, sectionIds.element));
}

/** Whether all elements are of the first kind: active, of the first table, a list of functions. */
function hasOnlyPlainElements(reader: WasmReader): boolean {
  for (let count = reader.u32(); count > 0; count--) {
    if (reader.u32() !== 0) return false;
    skipConstant(reader);
    for (let functions = reader.u32(); functions > 0; functions--) reader.u32();
  }
  return true;
}

function readTable(reader: WasmReader): number {
  const type = reader.byte();
  const flags = reader.byte();
  if (flags > 1) throw new RangeError("Cannot read wasm: a table is shared, or has 64-bit addresses");
  for (let limit = 0; limit <= flags; limit++) reader.u32();
  return type;
}

function readGlobal(reader: WasmReader): WasmGlobal {
  const type = reader.byte();
  const isMutable = reader.byte() === 1;
  skipConstant(reader);
  return { type, isMutable };
}

/** Skips one instruction that makes a constant, and the end. */
function skipConstant(reader: WasmReader): void {
  const instruction = reader.byte();
  if (instruction === 0x41 || instruction === 0x42 || instruction === 0x23) while (reader.byte() >= 0x80);
  else if (instruction === 0x43) reader.bytes(4);
  else if (instruction === 0x44) reader.bytes(8);
  else throw new RangeError(`Cannot read wasm: a constant is made by instruction ${instruction}`);
  if (reader.byte() !== 0x0b) throw new RangeError("Cannot read wasm: a constant is made by several instructions");
}

function readList<Item>(sections: readonly WasmSection[], id: number, readItem: (reader: WasmReader) => Item): Item[] {
  const reader = readerOf(sections, id);
  return Array.from({ length: reader.u32() }, () => readItem(reader));
}
