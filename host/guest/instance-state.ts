/**
 * All mutable state of an instance, saved before any code runs, to restore the instance later.
 *
 * By the WebAssembly standard an instance consists of functions, which never change, and of a memory, tables, globals
 * and segments. `guest-module.ts` allows this only for modules whose segments cannot be dropped and whose tables and
 * globals are all exported. This class restores the memory's bytes and the globals. It cannot restore a memory or table
 * that has grown, or a table with another function: then `restore` returns `false`, and the instance is thrown away.
 */
export class InstanceState {
  readonly #memory: WebAssembly.Memory;
  readonly #memoryBytes: number;
  /** The memory up to its last byte that is not zero. */
  readonly #image: Uint8Array;
  readonly #globals: readonly { readonly global: WebAssembly.Global; readonly value: unknown }[];
  readonly #tables: readonly { readonly table: WebAssembly.Table; readonly functions: readonly unknown[] }[];

  /** For an instance that has not run yet. `parts`: its tables and mutable globals. */
  constructor(memory: WebAssembly.Memory, parts: readonly unknown[]) {
    const bytes = new Uint8Array(memory.buffer);
    this.#memory = memory;
    this.#memoryBytes = bytes.length;
    this.#image = bytes.slice(0, endOfContent(bytes));
    this.#globals = parts
      .filter((part) => part instanceof WebAssembly.Global)
      .map((global) => ({ global, value: global.value }));
    this.#tables = parts
      .filter((part) => part instanceof WebAssembly.Table)
      .map((table) => ({ table, functions: functionsOf(table) }));
  }

  /** Returns whether the instance is now in its first state. */
  restore(): boolean {
    if (this.#memory.buffer.byteLength !== this.#memoryBytes) return false;
    if (!this.#tables.every(({ table, functions }) => holds(table, functions))) return false;
    const bytes = new Uint8Array(this.#memory.buffer);
    bytes.set(this.#image);
    bytes.fill(0, this.#image.length);
    for (const { global, value } of this.#globals) global.value = value;
    return true;
  }
}

function endOfContent(bytes: Uint8Array): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return end;
}

const functionsOf = (table: WebAssembly.Table): unknown[] =>
  Array.from({ length: table.length }, (_, index) => table.get(index));

function holds(table: WebAssembly.Table, functions: readonly unknown[]): boolean {
  return table.length === functions.length && functions.every((each, index) => table.get(index) === each);
}
