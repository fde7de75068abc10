/**
 * A plugin's code, compiled once for all threads, with the facts that a thread needs to reuse an instance.
 *
 * To restore an instance, the host must see all of its state. The memory is exported anyway. This file adds exports for
 * the mutable globals, and for the tables if the code can change them. Only the host can use them: a guest cannot access
 * exports.
 */
import { readFuelGlobal } from "../../shared/fuel-section.ts";
import { canChangeTables } from "../../shared/wasm-code.ts";
import { readMemoryLimits, readSections, sectionIds, WasmReader } from "../../shared/wasm-sections.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { readChangingParts } from "../../shared/wasm-state.ts";
import type { ChangingParts } from "../../shared/wasm-state.ts";
import { concatBytes, encodeUnsigned, writeModule } from "../../shared/wasm-writer.ts";

export interface GuestModule {
  readonly module: WebAssembly.Module;
  /** The exports through which the host accesses tables and globals; `null` if an instance can be used only once. */
  readonly stateExports: readonly string[] | null;
  /** The export among them that counts the fuel polls that a call has left; `null` if the plugin has none. */
  readonly fuelExport: string | null;
  /** A call's fuel, unless the configuration lowers it. */
  readonly fuelPollsMax: number;
  /** How far the module's memory may grow. */
  readonly memoryBytesMax: number;
}

export interface GuestBounds {
  readonly memoryPagesMax: number;
  readonly fuelPollsMax: number;
}

const pageBytes = 65_536;
const exportKinds = { table: 1, global: 3 } as const;

interface StateExport {
  readonly name: string;
  readonly kind: number;
  readonly index: number;
}

/**
 * Compiles a module whose memory has a maximum. `bounds` can lower the maximum and never raise it. Throws
 * `UnreadableWasm` or the engine's `CompileError` for an invalid module.
 */
export async function compileGuest(wasm: Uint8Array, bounds: GuestBounds): Promise<GuestModule> {
  const { sections, pagesMax } = withMemoryMax(readSections(wasm), bounds.memoryPagesMax);
  const { bytes, added } = widened(sections);
  const fuelGlobal = readFuelGlobal(sections);
  const fuelExport = added?.find(({ kind, index }) => kind === exportKinds.global && index === fuelGlobal)?.name;
  return {
    module: await WebAssembly.compile(bytes),
    stateExports: added?.map(({ name }) => name) ?? null,
    fuelExport: fuelExport ?? null,
    fuelPollsMax: bounds.fuelPollsMax,
    memoryBytesMax: pagesMax * pageBytes,
  };
}

/** Whether the engine accepts the module that a host would compile. Compiles and runs nothing. */
export function isValidGuest(wasm: Uint8Array): boolean {
  return WebAssembly.validate(widened(readSections(wasm)).bytes);
}

/** Adds the exports that a host needs. `added` is `null` if exports cannot show all of the module's state. */
function widened(sections: readonly WasmSection[]): { bytes: Uint8Array; added: StateExport[] | null } {
  const parts = readChangingParts(sections);
  const added = parts && stateExportsOf(parts, canChangeTables(sections));
  return { bytes: writeModule(added ? withExports(sections, added) : sections), added };
}

/** Lowers the memory's maximum. The engine enforces it: growing beyond it fails as at the module's own maximum. */
function withMemoryMax(
  sections: readonly WasmSection[],
  pagesMax: number,
): { sections: readonly WasmSection[]; pagesMax: number } {
  const [memory] = readMemoryLimits(sections);
  if (!memory) return { sections, pagesMax };
  if (memory.max !== null && memory.max <= pagesMax) return { sections, pagesMax: memory.max };
  // The two ones: a single memory, which has a maximum.
  const payload = concatBytes([Uint8Array.of(1, 1), encodeUnsigned(memory.min), encodeUnsigned(pagesMax)]);
  return { sections: sections.map((each) => (each.id === sectionIds.memory ? { ...each, payload } : each)), pagesMax };
}

function stateExportsOf({ tablesCount, globals }: ChangingParts, hasChangingTables: boolean): StateExport[] {
  const tables = Array.from({ length: hasChangingTables ? tablesCount : 0 }, (_, index) => ({
    kind: exportKinds.table,
    index,
  }));
  const all = [...tables, ...globals.map((index) => ({ kind: exportKinds.global, index }))];
  return all.map(({ kind, index }, at) => ({ kind, index, name: `memcell:state:${at}` }));
}

/** A module that already exports one of these names does not compile, because it then exports the name twice. */
function withExports(sections: readonly WasmSection[], added: readonly StateExport[]): WasmSection[] {
  return sections.map(({ id, payload }) => {
    if (id !== sectionIds.export) return { id, payload };
    const reader = new WasmReader(payload);
    const count = encodeUnsigned(reader.u32() + added.length);
    return { id, payload: concatBytes([count, reader.rest, ...added.map(encodeExport)]) };
  });
}

function encodeExport({ name, kind, index }: StateExport): Uint8Array {
  const bytes = new TextEncoder().encode(name);
  return concatBytes([encodeUnsigned(bytes.length), bytes, Uint8Array.of(kind), encodeUnsigned(index)]);
}
