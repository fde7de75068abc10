/**
 * The custom section `memcell:fuel`: the index, as LEB128, of the mutable i32 global in which a plugin counts the polls
 * left of its fuel. A host that reads the global after a call knows how much fuel the call used. The guest controls
 * this counter, so a host can trust it no more than the fuel itself.
 */
import { customSections, UnreadableWasm, WasmReader } from "./wasm-sections.ts";
import type { WasmSection } from "./wasm-sections.ts";
import { readInterface } from "./wasm-signatures.ts";
import { readGlobals } from "./wasm-state.ts";
import type { WasmGlobal } from "./wasm-state.ts";

export const fuelSection = "memcell:fuel";

const i32 = 0x7f;

/** Returns the global's index, or `null` without the section. Throws `UnreadableWasm` when the section is wrong. */
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

/** The globals that the module defines. None if it imports anything but functions: instances could share a global. */
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
