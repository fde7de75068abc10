/**
 * The types of a module's imported and exported functions, which an engine's own reflection does not tell.
 *
 * A signature is written `i64,i32->i32`: parameters, arrow, results.
 */
import { sectionIds, WasmReader } from "./wasm-sections.ts";
import type { WasmSection } from "./wasm-sections.ts";

export interface WasmSignatures {
  /** Signatures of imported functions by `module name`. */
  readonly imports: ReadonlyMap<string, string>;
  /** Signatures of exported functions by name. */
  readonly exports: ReadonlyMap<string, string>;
}

export function readSignatures(sections: readonly WasmSection[]): WasmSignatures {
  const types = readTypes(readerOf(sections, sectionIds.type));
  const imported = readImports(readerOf(sections, sectionIds.import), types);
  const defined = readList(readerOf(sections, sectionIds.function), (reader) => types[reader.u32()] ?? "");
  const all = [...imported.map(({ signature }) => signature), ...defined];
  const exported = readExports(readerOf(sections, sectionIds.export));
  return {
    imports: new Map(imported.map(({ name, signature }) => [name, signature])),
    exports: new Map(exported.map(({ name, index }) => [name, all[index] ?? ""])),
  };
}

function readerOf(sections: readonly WasmSection[], id: number): WasmReader {
  return new WasmReader(sections.find((section) => section.id === id)?.payload ?? Uint8Array.of(0));
}

function readList<Item>(reader: WasmReader, readItem: (reader: WasmReader) => Item): Item[] {
  return Array.from({ length: reader.u32() }, () => readItem(reader));
}

const functionForm = 0x60;
const valueTypes: Readonly<Record<number, string>> = { 0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64" };

function readTypes(reader: WasmReader): string[] {
  return readList(reader, () => {
    if (reader.byte() !== functionForm) throw new RangeError("Cannot read wasm: a type is no plain function type");
    const parameters = readList(reader, readValueType);
    return `${parameters.join(",")}->${readList(reader, readValueType).join(",")}`;
  });
}

const readValueType = (reader: WasmReader): string => valueTypes[reader.byte()] ?? "other";

/** Only functions: with another import the whole is refused anyway. */
function readImports(reader: WasmReader, types: readonly string[]): { name: string; signature: string }[] {
  return readList(reader, () => {
    const name = `${readName(reader)} ${readName(reader)}`;
    if (reader.byte() !== 0) throw new RangeError(`Cannot read wasm: import "${name}" is no function`);
    return { name, signature: types[reader.u32()] ?? "" };
  });
}

function readExports(reader: WasmReader): { name: string; index: number }[] {
  const all = readList(reader, () => ({ name: readName(reader), kind: reader.byte(), index: reader.u32() }));
  return all.filter(({ kind }) => kind === 0);
}

function readName(reader: WasmReader): string {
  return Array.from(reader.bytes(reader.u32()), (byte) => String.fromCharCode(byte)).join("");
}
