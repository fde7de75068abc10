/** Removes exports from a module. */
import { pluginLimits } from "../shared/limits.ts";
import { sectionIds, WasmReader } from "../shared/wasm-sections.ts";
import type { WasmSection } from "../shared/wasm-sections.ts";
import { concatBytes, encodeUnsigned } from "../shared/wasm-writer.ts";

export interface ModuleExport {
  readonly name: string;
  /** The binary format's number: 0 function, 1 table, 2 memory, 3 global. */
  readonly kind: number;
  /** The index of the exported item, as LEB128. */
  readonly index: Uint8Array;
}

/** Returns the sections without the taken exports, and these exports. */
export function takeExports(
  sections: readonly WasmSection[],
  isTaken: (exported: ModuleExport) => boolean,
): { sections: WasmSection[]; taken: ModuleExport[] } {
  const taken: ModuleExport[] = [];
  const kept = sections.map(({ id, payload }) => {
    if (id !== sectionIds.export) return { id, payload };
    const exports = new WasmReader(payload).list("exports", pluginLimits.exportsMax, readExport);
    taken.push(...exports.filter(isTaken));
    const others = exports.filter((each) => !isTaken(each)).map(({ bytes }) => bytes);
    return { id, payload: concatBytes([encodeUnsigned(others.length), ...others]) };
  });
  return { sections: kept, taken };
}

/** `bytes` is the whole export. */
function readExport(reader: WasmReader): ModuleExport & { readonly bytes: Uint8Array } {
  const name = reader.bytes(reader.u32());
  const kind = reader.byte();
  const index = encodeUnsigned(reader.u32());
  return {
    name: new TextDecoder().decode(name),
    kind,
    index,
    bytes: concatBytes([encodeUnsigned(name.length), name, Uint8Array.of(kind), index]),
  };
}
