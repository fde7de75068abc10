/**
 * Takes the JavaScript compiler out of the engine's module: a guest has no `eval`, so it could never run, and it is 80 KB
 * of code.
 *
 * The engine calls it through its function table alone, at the index that a context with `eval` holds and one without
 * does not. With another function in that place, nothing reaches the compiler, and the reduction drops it.
 */
import { sectionIds, WasmReader } from "../shared/wasm-sections.ts";
import type { WasmSection } from "../shared/wasm-sections.ts";
import { concatBytes, encodeSigned, encodeUnsigned } from "../shared/wasm-writer.ts";
import { Engine } from "./engine.ts";

/** The part of a context's structure that is compared: its fixed fields. */
const contextBytes = 400;

export async function cutCompiler(sections: readonly WasmSection[]): Promise<WasmSection[]> {
  const index = await findCompiler();
  return sections.map(({ id, payload }) => ({
    id,
    payload: id === sectionIds.element ? withoutFunction(payload, index) : payload,
  }));
}

/** Where the compiler stands in the function table. */
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

/** The module's one segment of functions, with the first of them also where the function to be dropped stood. */
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
