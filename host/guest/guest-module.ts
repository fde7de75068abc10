import { readSections, sectionIds, WasmReader } from "../../shared/wasm-sections.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { readChangingParts } from "../../shared/wasm-state.ts";
import type { ChangingParts } from "../../shared/wasm-state.ts";
/**
 * A plugin's code, compiled once for all threads, with what a thread must know to use an instance again.
 *
 * An instance can only be put back to where it began by who sees all of it. The memory is exported anyway; here the
 * exports are widened by the tables and the mutable globals, for the host alone: a guest cannot use exports.
 */
import { concatBytes, encodeUnsigned, writeModule } from "../../shared/wasm-writer.ts";

export interface GuestModule {
  readonly module: WebAssembly.Module;
  /** The exports through which the host sees tables and globals; `null` when an instance can only be used once. */
  readonly stateExports: readonly string[] | null;
  /** How far the module's memory may grow. */
  readonly memoryBytesMax: number;
}

const pageBytes = 65_536;
const exportKinds = { table: 1, global: 3 } as const;

interface StateExport {
  readonly name: string;
  readonly kind: number;
  readonly index: number;
}

/** Throws `UnreadableWasm` or the engine's `CompileError` for what is no module. */
export async function compileGuest(wasm: Uint8Array, memoryPagesMax: number): Promise<GuestModule> {
  const { bytes, stateExports } = widenGuest(wasm);
  return { module: await WebAssembly.compile(bytes), stateExports, memoryBytesMax: memoryPagesMax * pageBytes };
}

/** Whether an engine takes what a host would have it compile. Nothing is compiled, and nothing runs. */
export function isValidGuest(wasm: Uint8Array): boolean {
  return WebAssembly.validate(widenGuest(wasm).bytes);
}

/** The module as the host has it compiled. */
function widenGuest(wasm: Uint8Array): { bytes: Uint8Array; stateExports: readonly string[] | null } {
  const sections = readSections(wasm);
  const parts = readChangingParts(sections);
  if (parts === null) return { bytes: wasm, stateExports: null };
  const added = stateExportsOf(parts);
  return { bytes: withExports(sections, added), stateExports: added.map(({ name }) => name) };
}

function stateExportsOf({ tablesCount, globals }: ChangingParts): StateExport[] {
  const tables = Array.from({ length: tablesCount }, (_, index) => ({ kind: exportKinds.table, index }));
  const all = [...tables, ...globals.map((index) => ({ kind: exportKinds.global, index }))];
  return all.map(({ kind, index }, at) => ({ kind, index, name: `memcell:state:${at}` }));
}

/** A module that exports one of these names itself does not compile, for then it exports it twice. */
function withExports(sections: readonly WasmSection[], added: readonly StateExport[]): Uint8Array {
  const widened = sections.map(({ id, payload }) => {
    if (id !== sectionIds.export) return { id, payload };
    const reader = new WasmReader(payload);
    const count = encodeUnsigned(reader.u32() + added.length);
    return { id, payload: concatBytes([count, reader.rest, ...added.map(encodeExport)]) };
  });
  return writeModule(widened);
}

function encodeExport({ name, kind, index }: StateExport): Uint8Array {
  const bytes = new TextEncoder().encode(name);
  return concatBytes([encodeUnsigned(bytes.length), bytes, Uint8Array.of(kind), encodeUnsigned(index)]);
}
