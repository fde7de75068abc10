/**
 * The JavaScript engine while a plugin is being built: QuickJS in Node, called through its C functions.
 *
 * Only the build runs this. In the finished plugin, `glue/engine.wat` replaces these imports. Clock and randomness are
 * constants, so that the same source always gives the same memory.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { guestLimits } from "../shared/limits.ts";

/** The C functions used here; a pointer is a number. */
interface EngineExports {
  memory: WebAssembly.Memory;
  __stack_pointer: WebAssembly.Global;
  _initialize(): void;
  qjs_init2(intrinsics: number): number;
  qjs_set_interrupt_handler(on: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_compile(code: number, bytes: number, name: number, flags: number, strip: number, lengthOut: number): number;
  qjs_eval_bytecode(code: number, bytes: number): number;
  qjs_is_exception(box: number): number;
  qjs_get_exception(): number;
  qjs_get_string_len(box: number, lengthOut: number): number;
  qjs_get_global(): number;
  qjs_get_prop_string(box: number, name: number): number;
  qjs_set_prop_string(box: number, name: number, value: number): number;
  qjs_is_function(box: number): number;
  qjs_new_host_function(name: number, bytes: number, argumentCount: number): number;
  qjs_get_context_ptr(): number;
  qjs_get_quickjs_version(): number;
  qjs_run_gc(): void;
  qjs_set_gc_threshold(bytes: number): void;
  wasm_malloc(bytes: number): number;
  wasm_free(pointer: number): void;
}

/** The language parts that a context can have, as in quickjs-wasi's `Intrinsics`. */
const intrinsics = {
  date: 1 << 0,
  eval: 1 << 1,
  regExp: 1 << 2,
  json: 1 << 3,
  proxy: 1 << 4,
  mapSet: 1 << 5,
  typedArrays: 1 << 6,
  promise: 1 << 7,
  bigInt: 1 << 8,
} as const;

/** No `eval`, and so no `Function`; no weak references, timers or DOM either. */
const guestIntrinsics = Object.values(intrinsics).reduce((all, each) => all | each, 0) & ~intrinsics.eval;
const compilerIntrinsics = guestIntrinsics | intrinsics.eval;

const stripSourceAndDebug = (1 << 4) | (1 << 5);

export const engineWasmPath: string = fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"));

export class Engine {
  readonly exports: EngineExports;

  private constructor(exports: EngineExports) {
    this.exports = exports;
  }

  /** Starts an engine that can compile. It is discarded afterwards. */
  static async forCompiling(): Promise<Engine> {
    return Engine.#start(compilerIntrinsics);
  }

  /** Starts an engine as the plugin will have it. */
  static async forGuest(): Promise<Engine> {
    const engine = await Engine.#start(guestIntrinsics);
    engine.exports.qjs_set_interrupt_handler(1);
    engine.exports.qjs_set_max_stack_size(guestLimits.stackBytesMax);
    return engine;
  }

  static async #start(parts: number): Promise<Engine> {
    const imports = constantImports(() => exports.memory);
    const { instance } = await WebAssembly.instantiate(await readFile(engineWasmPath), imports);
    const exports = instance.exports as unknown as EngineExports;
    exports._initialize();
    if (exports.qjs_init2(parts) !== 0) throw new Error("Cannot build: the JavaScript engine did not start");
    return new Engine(exports);
  }

  /** The version of QuickJS itself, which differs from its package's. */
  get version(): string {
    const start = this.exports.qjs_get_quickjs_version();
    return new TextDecoder().decode(this.bytes.slice(start, this.bytes.indexOf(0, start)));
  }

  /** A view of the memory. Do not keep it: when the memory grows, the view is detached. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer);
  }

  /** Compiles JavaScript to bytecode, without source text and line numbers. */
  compile(code: string, name: string): Uint8Array {
    const source = this.lay(new TextEncoder().encode(`${code}\0`));
    const file = this.lay(new TextEncoder().encode(`${name}\0`));
    const lengthOut = this.exports.wasm_malloc(4);
    const bytecode = this.exports.qjs_compile(
      source.pointer,
      source.bytes - 1,
      file.pointer,
      0,
      stripSourceAndDebug,
      lengthOut,
    );
    if (bytecode === 0) throw new Error(`Cannot compile ${name}: ${this.text(this.exports.qjs_get_exception())}`);
    const length = new DataView(this.exports.memory.buffer).getUint32(lengthOut, true);
    return this.bytes.slice(bytecode, bytecode + length);
  }

  run(bytecode: Uint8Array, name: string): void {
    const { pointer, bytes } = this.lay(bytecode);
    const result = this.exports.qjs_eval_bytecode(pointer, bytes);
    if (this.exports.qjs_is_exception(result) !== 0) {
      throw new Error(`Cannot run ${name}: ${this.text(this.exports.qjs_get_exception())}`);
    }
    this.exports.wasm_free(pointer);
  }

  /** Stores text at a fixed address for the plugin's whole life. */
  layText(text: string): { pointer: number; bytes: number } {
    return this.lay(new TextEncoder().encode(text));
  }

  /** Grows the memory until so many bytes are free in one piece. */
  makeRoom(bytes: number): void {
    this.exports.wasm_free(this.reserve(bytes));
  }

  /** Reserves zeroed bytes at a fixed address for the plugin's whole life. */
  reserve(bytes: number): number {
    return this.lay(new Uint8Array(bytes)).pointer;
  }

  /** Defines a native as a property of the global object. A call of it goes to `host_call`. */
  defineNative(letter: string): void {
    const name = this.layText(`${letter}\0`);
    const native = this.exports.qjs_new_host_function(name.pointer, name.bytes - 1, 0);
    const property = this.layText(`__native_${letter}\0`);
    this.exports.qjs_set_prop_string(this.exports.qjs_get_global(), property.pointer, native);
    this.exports.wasm_free(property.pointer);
  }

  /** Reads a property of the global object, as a box that stays valid in the snapshot. */
  globalProperty(name: string): number {
    const property = this.layText(`${name}\0`);
    const box = this.exports.qjs_get_prop_string(this.exports.qjs_get_global(), property.pointer);
    this.exports.wasm_free(property.pointer);
    return box;
  }

  isFunction(box: number): boolean {
    return this.exports.qjs_is_function(box) !== 0;
  }

  /** Converts a value to text, for messages of the build. */
  text(box: number): string {
    const lengthOut = this.exports.wasm_malloc(4);
    const pointer = this.exports.qjs_get_string_len(box, lengthOut);
    const length = new DataView(this.exports.memory.buffer).getUint32(lengthOut, true);
    return new TextDecoder().decode(this.bytes.slice(pointer, pointer + length));
  }

  /** Stores bytes at a fixed address for the plugin's whole life. */
  lay(content: Uint8Array): { pointer: number; bytes: number } {
    const pointer = this.exports.wasm_malloc(content.length);
    if (pointer === 0) throw new Error("Cannot build: the JavaScript engine is out of memory");
    this.bytes.set(content, pointer);
    return { pointer, bytes: content.length };
  }
}

/** Imports that always return the same. A native that is called during the build throws. */
export function constantImports(memory: () => WebAssembly.Memory): WebAssembly.Imports {
  const badFile = 8;
  return {
    env: {
      host_call: () => {
        throw new Error("Cannot build: plugin code called the host while it was being loaded");
      },
      host_interrupt: () => 0,
      host_promise_rejection: () => {},
      host_module_normalize: () => 0,
      host_module_load: () => 0,
      host_get_timezone_offset: () => 0,
    },
    wasi_snapshot_preview1: {
      clock_time_get: (_clock: number, _precision: bigint, to: number) => {
        new DataView(memory().buffer).setBigUint64(to, 0n, true);
        return 0;
      },
      random_get: (to: number, bytes: number) => {
        new Uint8Array(memory().buffer).fill(0, to, to + bytes);
        return 0;
      },
      fd_close: () => badFile,
      fd_fdstat_get: () => badFile,
      fd_seek: () => badFile,
      fd_write: () => badFile,
    },
  };
}
