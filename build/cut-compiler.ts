/**
 * Removes the JavaScript compiler from the engine's module: 80 KB that never run, because a guest has no `eval`.
 *
 * The engine calls the compiler only through its function table. A context with `eval` holds the compiler's index, one
 * without does not. When another function replaces it in the table, nothing reaches the compiler, and step 5 drops it.
 */
import { sectionIds, WasmReader } from "../shared/wasm-sections.ts";
import type { WasmSection } from "../shared/wasm-sections.ts";
import { concatBytes, encodeSigned, encodeUnsigned } from "../shared/wasm-writer.ts";
import { Engine } from "./engine.ts";

/** The compared part of a context's structure: its fixed fields. */
const contextBytes = 400;

export async function cutCompiler(sections: readonly WasmSection[]): Promise<WasmSection[]> {
  const index = await findCompiler();
  return sections.map(({ id, payload }) => ({
    id,
    payload: id === sectionIds.element ? withoutFunction(payload, index) : payload,
  }));
}

/** Returns the compiler's index in the function table. */
async function findCompiler(): Promise<number> {
  const [compiling, guest] = [await Engine.forCompiling(), await Engine.forGuest()].map(contextWords);
  const found = compiling?.filter((word, at) => word !== 0 && guest?.[at] === 0) ?? [];
  const [index] = found;
  if (index === undefined || found.length > 1) throw new Error("Cannot build: the engine's compiler was not found");
  return index;
}

function contextWords({ exports }: Engine): number[] {
  return Array.from(new Uint32Array(exports.memory.buffer, exports.qjs_get_context_ptr(), contextBytes / 4));
}

/** Returns the module's one segment of functions, with its first function also in place of the dropped one. */
function withoutFunction(payload: Uint8Array, index: number): Uint8Array {
  const reader = new WasmReader(payload);
  const [segments, kind, i32Const, start, end] = [
    reader.u32(),
    reader.u32(),
    reader.byte(),
    reader.u32(),
    reader.byte(),
  ];
  const functions = Array.from({ length: reader.u32() }, () => reader.u32());
  const first = functions[0];
  if (segments !== 1 || kind !== 0 || !reader.atEnd || first === undefined || !(index - start in functions)) {
    throw new Error("Cannot build: the engine's function table is not one plain segment");
  }
  functions[index - start] = first;
  const head = [encodeUnsigned(segments), encodeUnsigned(kind), Uint8Array.of(i32Const), encodeSigned(start)];
  return concatBytes([...head, Uint8Array.of(end), ...[functions.length, ...functions].map(encodeUnsigned)]);
}
