/** Reads a module's instructions, as far as it has to be known whether they can change its tables. */
import { pluginLimits } from "./limits.ts";
import { readerOf } from "./wasm-sections.ts";
import type { WasmSection } from "./wasm-sections.ts";

const codeSection = 10;

/** What follows the first byte of an instruction: so many LEB128 numbers, or something else. */
type Following = number | "block type" | "memory" | "4 bytes" | "8 bytes" | "labels" | "types" | "more" | "unknown";

const tableSet = 0x26;
const more = 0xfc;
/** After `more`: `table.init`, `elem.drop`, `table.copy`, `table.grow`, `table.fill`. */
const tableChanges: ReadonlySet<number> = new Set([12, 13, 14, 15, 17]);
/** After `more`, how many numbers follow. */
const followingMore: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];
/** Numbers, vectors, and references to functions and to the host. Every other type is newer than this file. */
const types: ReadonlySet<number> = new Set([0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f]);
const noType = 0x40;

/** By the first byte. Instructions that are newer than this file are unknown. */
const following: readonly Following[] = Array.from({ length: 256 }, (_, byte) => followingOf(byte));

function followingOf(byte: number): Following {
  if ([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1].includes(byte) || (byte >= 0x45 && byte <= 0xc4)) return 0;
  if (byte >= 0x02 && byte <= 0x04) return "block type";
  if ([0x0c, 0x0d, 0x10, 0x12, 0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2].includes(byte)) return 1;
  if (byte >= 0x20 && byte <= 0x25) return 1;
  if (byte === 0x11 || byte === 0x13) return 2;
  if (byte >= 0x28 && byte <= 0x3e) return "memory";
  const others: Readonly<Record<number, Following>> = {
    0x0e: "labels",
    0x1c: "types",
    0x43: "4 bytes",
    0x44: "8 bytes",
    [more]: "more",
  };
  return others[byte] ?? "unknown";
}

/** Something that is newer than this file, or not WebAssembly. */
class Unknown extends RangeError {}

/**
 * Whether a module's code can change its tables. `true` also for code that has anything which this file does not know:
 * it could be read wrongly from there on.
 */
export function canChangeTables(sections: readonly WasmSection[]): boolean {
  try {
    const reader = readerOf(sections, codeSection);
    for (let count = reader.u32(); count > 0; count--) {
      const code = reader.bytes(reader.u32());
      if (isSuspect(code) && new FunctionCode(code).canChangeTables()) return true;
    }
    return false;
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}

/**
 * Whether a function's code has, anywhere, bytes that could change a table. Most functions have none, and to read every
 * instruction of a plugin takes 15 ms when a process has just started.
 */
function isSuspect(code: Uint8Array): boolean {
  const has = (first: number, isSecond: (byte: number) => boolean): boolean => {
    for (let at = code.indexOf(first); at >= 0; at = code.indexOf(first, at + 1)) {
      if (isSecond(code[at + 1] ?? 0)) return true;
    }
    return false;
  };
  // A number of several bytes has the highest bit in its first one.
  return (
    has(tableSet, (table) => table < pluginLimits.tablesMax || table >= 0x80) ||
    has(more, (second) => tableChanges.has(second & 0x7f))
  );
}

class FunctionCode {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  canChangeTables(): boolean {
    for (let locals = this.#number(); locals > 0; locals--) {
      this.#number();
      this.#type();
    }
    while (this.#at < this.#bytes.length) {
      const first = this.#byte();
      if (first === tableSet) return true;
      const next = following[first] ?? "unknown";
      if (typeof next === "number") this.#skip(next);
      else if (next === "more") {
        const second = this.#number();
        if (tableChanges.has(second)) return true;
        this.#skip(followingMore[second] ?? unknown());
      } else this.#skipOther(next);
    }
    return false;
  }

  #skipOther(next: Exclude<Following, number | "more">): void {
    switch (next) {
      case "block type":
        // A type, or the number of one, which is positive: its last byte has no sign.
        if (((this.#bytes[this.#at] ?? 0) & 0xc0) !== 0x40) return this.#skip(1);
        if (this.#bytes[this.#at] === noType) this.#at++;
        else this.#type();
        return;
      case "memory":
        // A larger number would say that a memory's number follows.
        if (this.#number() > 3) unknown();
        return this.#skip(1);
      case "labels":
        return this.#skip(this.#number() + 1);
      case "types":
        for (let count = this.#number(); count > 0; count--) this.#type();
        return;
      case "4 bytes":
        this.#at += 4;
        return;
      case "8 bytes":
        this.#at += 8;
        return;
      case "unknown":
        unknown();
    }
  }

  #type(): void {
    if (!types.has(this.#byte())) unknown();
  }

  #skip(numbers: number): void {
    for (let left = numbers; left > 0; left--) while (this.#byte() >= 0x80);
  }

  #number(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return unknown();
  }

  #byte(): number {
    return this.#bytes[this.#at++] ?? unknown();
  }
}

function unknown(): never {
  throw new Unknown("Cannot read wasm: an instruction is unknown");
}
