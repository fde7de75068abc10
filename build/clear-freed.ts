/**
 * Fills the snapshot's freed memory with zeros. A free leaves bytes where they are, and the file would ship them: what
 * the plugin's code made and dropped while it was loaded, and 80 KB of nothing.
 *
 * Which memory is free only the allocators know (the engine's own, for small pieces, on top of the C library's), so they
 * are asked: in an instance that cannot grow, whatever can still be allocated was free. It is filled and given back,
 * highest address first, so that a call will take its memory from the fewest pages.
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

/** Larger than what one piece of the engine's own allocator can be. */
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

  // The engine has given the C library what it had kept for small pieces of which none is left.
  const returned = takeAll(exports.wasm_malloc, memory.length);
  clear(exports.memory, returned);
  giveBack(returned, exports.wasm_free);

  const cleared = new Uint8Array(exports.memory.buffer).slice();
  // The engine is at rest, so below the stack pointer lie only the frames of calls that have returned.
  cleared.fill(0, 0, Number(exports.__stack_pointer.value));
  return cleared;
}

interface Piece {
  readonly pointer: number;
  readonly bytes: number;
}

/** Allocates, from large pieces to small ones, until nothing is left. */
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
