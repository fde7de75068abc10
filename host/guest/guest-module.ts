/**
 * A plugin's code, compiled once for all threads, with what a thread must know to use an instance again.
 *
 * An instance can only be put back to where it began by who sees all of it. The memory is exported anyway; here the
 * exports are widened by the tables and the mutable globals, for the host alone: a guest cannot use exports.
 */
import { readFuelGlobal } from "../../shared/fuel-section.ts";
import { readMemoryLimits, readSections, sectionIds, WasmReader } from "../../shared/wasm-sections.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { readChangingParts } from "../../shared/wasm-state.ts";
import type { ChangingParts } from "../../shared/wasm-state.ts";
import { concatBytes, encodeUnsigned, writeModule } from "../../shared/wasm-writer.ts";

export interface GuestModule {
  readonly module: WebAssembly.Module;
  /** The exports through which the host sees tables and globals; `null` when an instance can only be used once. */
  readonly stateExports: readonly string[] | null;
  /** The one of them that counts the polls left of a call's fuel; `null` when the plugin does not tell. */
  readonly fuelExport: string | null;
  /** The fuel of a call that no configuration lowers. */
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
 * Compiles a module whose memory has a maximum, which may be lowered and never raised. Throws `UnreadableWasm` or the
 * engine's `CompileError` for what is no module.
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

/** Whether an engine takes what a host would have it compile. Nothing is compiled, and nothing runs. */
export function isValidGuest(wasm: Uint8Array): boolean {
  return WebAssembly.validate(widened(readSections(wasm)).bytes);
}

/** A module with the exports that a host needs; `null` where they would not show all of its state. */
function widened(sections: readonly WasmSection[]): { bytes: Uint8Array; added: StateExport[] | null } {
  const parts = readChangingParts(sections);
  const added = parts && stateExportsOf(parts);
  return { bytes: writeModule(added ? withExports(sections, added) : sections), added };
}

/** The engine itself keeps the bound: growing beyond it fails as it does at the module's own maximum. */
function withMemoryMax(
  sections: readonly WasmSection[],
  pagesMax: number,
): { sections: readonly WasmSection[]; pagesMax: number } {
  const [memory] = readMemoryLimits(sections);
  if (!memory) return { sections, pagesMax };
  if (memory.max !== null && memory.max <= pagesMax) return { sections, pagesMax: memory.max };
  // One memory, with a maximum.
  const payload = concatBytes([Uint8Array.of(1, 1), encodeUnsigned(memory.min), encodeUnsigned(pagesMax)]);
  return { sections: sections.map((each) => (each.id === sectionIds.memory ? { ...each, payload } : each)), pagesMax };
}

function stateExportsOf({ tablesCount, globals }: ChangingParts): StateExport[] {
  const tables = Array.from({ length: tablesCount }, (_, index) => ({ kind: exportKinds.table, index }));
  const all = [...tables, ...globals.map((index) => ({ kind: exportKinds.global, index }))];
  return all.map(({ kind, index }, at) => ({ kind, index, name: `memcell:state:${at}` }));
}

/** A module that exports one of these names itself does not compile, for then it exports it twice. */
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
