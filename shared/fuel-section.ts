/**
 * Where a plugin counts the polls that are left of its fuel: the custom section `memcell:fuel` holds, as LEB128, the
 * index of a mutable i32 global. A host that reads the global after a call knows what the call has used. The counter is
 * the guest's own, and so as much worth as the fuel itself: a plugin that lies about the one can ignore the other.
 */
import { customSections, UnreadableWasm, WasmReader } from "./wasm-sections.ts";
import type { WasmSection } from "./wasm-sections.ts";
import { readInterface } from "./wasm-signatures.ts";
import { readGlobals } from "./wasm-state.ts";
import type { WasmGlobal } from "./wasm-state.ts";

export const fuelSection = "memcell:fuel";

const i32 = 0x7f;

/** The global's index, or `null` for a plugin without the section. Throws `UnreadableWasm` for one that is wrong. */
export function readFuelGlobal(sections: readonly WasmSection[]): number | null {
  const [section, ...others] = customSections(sections, fuelSection);
  if (!section) return null;
  if (others.length > 0) throw wrong("is there more than once");
  const reader = new WasmReader(section);
  const index = reader.u32();
  if (!reader.atEnd) throw wrong("holds more than a number");
  const global = definedGlobals(sections)[index];
  if (global?.type !== i32 || !global.isMutable) throw wrong("names no mutable i32 global of the file");
  return index;
}

/** Only one that the module defines has an instance to itself. */
function definedGlobals(sections: readonly WasmSection[]): WasmGlobal[] {
  if (readInterface(sections).imports.some(({ kind }) => kind !== "function")) return [];
  try {
    return readGlobals(sections);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

const wrong = (how: string): UnreadableWasm => new UnreadableWasm(`its section "${fuelSection}" ${how}`);
