/**
 * Fills the snapshot's freed memory with zeros. Freeing memory does not erase it, so the file would ship 80 KB of
 * garbage that the plugin's code left while it was loaded.
 *
 * Only the allocators know which memory is free: the engine's own, for small pieces, and the C library's below it. So
 * this code runs an instance that cannot grow, and allocates all it can: all of that was free. It fills the pieces with
 * zeros and frees them again, highest address first, so that a call will use the fewest pages.
 */
import { readFile } from "node:fs/promises";

import { constantImports, engineWasmPath } from "./engine.ts";
import { pageBytes, writeImage } from "./image.ts";

interface Allocators {
  readonly memory: WebAssembly.Memory;
  readonly __stack_pointer: WebAssembly.Global;
  readonly qjs_get_runtime_ptr: () => number;
  readonly js_malloc_rt: (runtime: number, bytes: number) => number;
  readonly js_free_rt: (runtime: number, pointer: number) => void;
  readonly wasm_malloc: (bytes: number) => number;
  readonly wasm_free: (pointer: number) => void;
}

/** Both allocators hand out multiples of eight. */
const stepBytes = 8;

/** Larger than any piece of the engine's own allocator. */
const smallPieceBytesMax = 4096;

export async function clearFreedMemory(memory: Uint8Array): Promise<Uint8Array> {
  const pages = memory.length / pageBytes;
  const image = writeImage(await readFile(engineWasmPath), memory, { min: pages, max: pages });
  const imports = constantImports(() => exports.memory);
  const { instance } = await WebAssembly.instantiate(image, imports);
  const exports = instance.exports as unknown as Allocators;

  const runtime = exports.qjs_get_runtime_ptr();
  const large = takeAll(exports.wasm_malloc, memory.length);
  const small = takeAll((bytes) => exports.js_malloc_rt(runtime, bytes), smallPieceBytesMax);
  clear(exports.memory, [...large, ...small]);
  giveBack(small, (pointer) => exports.js_free_rt(runtime, pointer));
  giveBack(large, exports.wasm_free);

  // The engine has now returned blocks to the C library in which no small piece is left.
  const returned = takeAll(exports.wasm_malloc, memory.length);
  clear(exports.memory, returned);
  giveBack(returned, exports.wasm_free);

  const cleared = new Uint8Array(exports.memory.buffer).slice();
  // No call is active, so below the stack pointer are only the frames of calls that have returned.
  cleared.fill(0, 0, Number(exports.__stack_pointer.value));
  return cleared;
}

interface Piece {
  readonly pointer: number;
  readonly bytes: number;
}

/** Allocates pieces, large ones first, until no memory is left. */
function takeAll(allocate: (bytes: number) => number, bytesMax: number): Piece[] {
  const pieces: Piece[] = [];
  for (let bytes = bytesMax; bytes > 0; bytes = nextSmaller(bytes)) {
    for (let pointer = allocate(bytes); pointer !== 0; pointer = allocate(bytes)) pieces.push({ pointer, bytes });
  }
  return pieces;
}

function nextSmaller(bytes: number): number {
  const tenth = Math.floor(bytes / 10 / stepBytes) * stepBytes;
  return bytes - Math.max(tenth, stepBytes);
}

function clear(memory: WebAssembly.Memory, pieces: readonly Piece[]): void {
  const bytes = new Uint8Array(memory.buffer);
  for (const piece of pieces) bytes.fill(0, piece.pointer, piece.pointer + piece.bytes);
}

function giveBack(pieces: readonly Piece[], free: (pointer: number) => void): void {
  for (const { pointer } of pieces.toSorted((a, b) => b.pointer - a.pointer)) free(pointer);
}
