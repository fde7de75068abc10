/** A memory is compared and restored in pieces of this size: shorter runs would cost more calls than they save. */
const pageBytes = 4_096;

/** Bytes of a memory, from one page to another, that are all zero, or a copy of them. */
type Run =
  | { readonly start: number; readonly end: number; readonly content: null }
  | { readonly start: number; readonly content: Uint8Array };

/**
 * All mutable state of an instance, saved before any code runs, to restore the instance later.
 *
 * By the WebAssembly standard an instance consists of functions, which never change, and of a memory, tables, globals
 * and segments. `guest-module.ts` allows this only for modules whose segments cannot be dropped, and exports all globals
 * and tables that the code can change. This class restores the memory's bytes and the globals. It cannot restore a
 * memory or table that has grown, or a table with another function: then `restore` returns `false`, and the instance is
 * thrown away.
 */
export class InstanceState {
  readonly #memory: WebAssembly.Memory;
  readonly #memoryBytes: number;
  readonly #runs: readonly Run[];
  readonly #globals: readonly { readonly global: WebAssembly.Global; readonly value: unknown }[];
  readonly #tables: readonly { readonly table: WebAssembly.Table; readonly functions: readonly unknown[] }[];

  /** For an instance that has not run yet. `parts`: its mutable globals, and the tables that can change. */
  constructor(memory: WebAssembly.Memory, parts: readonly unknown[]) {
    const bytes = new Uint8Array(memory.buffer);
    this.#memory = memory;
    this.#memoryBytes = bytes.length;
    this.#runs = runsOf(bytes);
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
    for (const run of this.#runs) {
      if (run.content === null) bytes.fill(0, run.start, run.end);
      else bytes.set(run.content, run.start);
    }
    for (const { global, value } of this.#globals) global.value = value;
    return true;
  }
}

/** Nearly three quarters of a memory are zero, and to fill is faster than to copy. */
function runsOf(bytes: Uint8Array): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < bytes.length;) {
    const isZero = isZeroPage(bytes, start);
    let end = start + pageBytes;
    while (end < bytes.length && isZeroPage(bytes, end) === isZero) end += pageBytes;
    runs.push(isZero ? { start, end, content: null } : { start, content: bytes.slice(start, end) });
    start = end;
  }
  return runs;
}

function isZeroPage(bytes: Uint8Array, start: number): boolean {
  return zeroPage.equals(bytes.subarray(start, start + pageBytes));
}

const zeroPage = Buffer.alloc(pageBytes);

const functionsOf = (table: WebAssembly.Table): unknown[] =>
  Array.from({ length: table.length }, (_, index) => table.get(index));

function holds(table: WebAssembly.Table, functions: readonly unknown[]): boolean {
  return table.length === functions.length && functions.every((each, index) => table.get(index) === each);
}
