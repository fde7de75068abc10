/**
 * Reads what a module imports and exports, with the function types, which an engine's reflection does not report.
 *
 * A signature is written `i64,i32->i32`: parameters, arrow, results.
 */
import { pluginLimits } from "./limits.ts";
import { readerOf, sectionIds, UnreadableWasm } from "./wasm-sections.ts";
import type { WasmReader, WasmSection } from "./wasm-sections.ts";

export interface WasmImport {
  readonly module: string;
  readonly name: string;
  readonly kind: string;
  /** Empty unless it is a function. */
  readonly signature: string;
}

export type WasmExport = Omit<WasmImport, "module">;

export interface WasmInterface {
  readonly imports: readonly WasmImport[];
  /** The number of imports after the first that is not a function. They are not read: that one refuses the module. */
  readonly importsUnread: number;
  readonly exports: readonly WasmExport[];
}

export function readInterface(sections: readonly WasmSection[]): WasmInterface {
  const types = readTypes(readerOf(sections, sectionIds.type));
  const { imports, importsUnread } = readImports(readerOf(sections, sectionIds.import), types);
  const { functionsMax } = pluginLimits;
  const defined = readerOf(sections, sectionIds.function).wholeList("functions", functionsMax, (reader) =>
    reader.u32(),
  );
  const signatureOf = (index: number): string =>
    imports[index]?.signature ?? types[defined[index - imports.length] ?? -1] ?? "";
  return { imports, importsUnread, exports: readExports(readerOf(sections, sectionIds.export), signatureOf) };
}

const functionForm = 0x60;
const valueTypes: Readonly<Record<number, string>> = { 0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64" };

function readTypes(reader: WasmReader): string[] {
  return reader.wholeList("types", pluginLimits.typesMax, () => {
    if (reader.byte() !== functionForm) throw new UnreadableWasm("a type in it is no plain function type");
    return `${readValueTypes(reader)}->${readValueTypes(reader)}`;
  });
}

function readValueTypes(reader: WasmReader): string {
  const types = reader.list("values in one function type", pluginLimits.typeValuesMax, () => reader.byte());
  return types.map((type) => valueTypes[type] ?? "other").join(",");
}

/** The JavaScript API's names. */
const kinds: Readonly<Record<number, string>> = { 0: "function", 1: "table", 2: "memory", 3: "global", 4: "tag" };

const kindOf = (code: number): string => kinds[code] ?? "something unknown,";

function readImports(reader: WasmReader, types: readonly string[]): Omit<WasmInterface, "exports"> {
  let isReadable = true;
  const listed = reader.list("imports", pluginLimits.importsMax, () => {
    if (!isReadable) return null;
    const [module, name] = [readName(reader), readName(reader)];
    const kind = kindOf(reader.byte());
    isReadable = kind === "function";
    return { module, name, kind, signature: isReadable ? (types[reader.u32()] ?? "") : "" };
  });
  const imports = listed.filter((each) => each !== null);
  return { imports, importsUnread: listed.length - imports.length };
}

function readExports(reader: WasmReader, signatureOf: (index: number) => string): WasmExport[] {
  return reader.wholeList("exports", pluginLimits.exportsMax, () => {
    const name = readName(reader);
    const kind = kindOf(reader.byte());
    const index = reader.u32();
    return { name, kind, signature: kind === "function" ? signatureOf(index) : "" };
  });
}

/** Makes each byte a character: a plugin may have ASCII names only. */
function readName(reader: WasmReader): string {
  const length = reader.u32();
  const { nameBytesMax } = pluginLimits;
  if (length > nameBytesMax) {
    throw new UnreadableWasm(`a name in it has ${length} bytes, at most ${nameBytesMax} allowed`);
  }
  return String.fromCharCode(...reader.bytes(length));
}
