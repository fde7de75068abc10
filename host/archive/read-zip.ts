/**
 * Reads memory files from an untrusted zip file. Only this file imports yauzl.
 *
 * Accepts a file only if it can be read in one way: its parts follow one another from the first byte to the last, both
 * headers of each entry agree, names are plain ASCII. So other programs find the same files in it. All limits are
 * checked against the declared sizes before anything is inflated, and inflating ends at the declared size.
 */
import { crc32 } from "node:zlib";

import { fromBufferPromise } from "yauzl";
import type { Entry, LocalFileHeader, ZipFile } from "yauzl";

import { storeLimits } from "../../shared/limits.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { isScopePath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { boundedBytes } from "../values/bounded-bytes.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { labelName, placeOf, readLabel } from "./export-label.ts";
import { originsName, readOrigins } from "./export-origins.ts";
import { transferLimits } from "./transfer-limits.ts";
import { readZipEnd } from "./zip-end.ts";

/** Throws `INPUT_INVALID` for any other zip file, and names the wrong entry. */
export async function readZip(bytes: Buffer): Promise<MemoryFile[]> {
  const end = readZipEnd(bytes);
  if (typeof end === "string") throw unfit(`the file ${end}`);
  // The count has 16 bits, so the list is bounded anyway.
  const entriesMax = transferLimits.filesMax + aboutFiles.size;
  if (end.entries > entriesMax) throw unfit(`the file has ${end.entries} entries, at most ${entriesMax} allowed`);
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false, validateEntrySizes: false });
    return await readEntries(zip, end.listAt);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError("INPUT_INVALID", "Cannot read the zip file: it is damaged", { cause: error });
  }
}

async function readEntries(zip: ZipFile, listAt: number): Promise<MemoryFile[]> {
  const found: Named<Entry>[] = [];
  const sums = new ScopeSums();
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileNameRaw.toString();
    const reason = refusalOfEntry(name, entry);
    if (reason !== null) throw unfit(`entry ${quoted(name, 100)} is refused: ${reason}`);
    // What is said about the files does not count: a scope can be full to the last byte.
    if (!aboutFiles.has(name)) sums.add(name, entry.uncompressedSize);
    found.push([name, entry]);
    await giveTurn();
  }
  refuseDuplicates(found.map(([name]) => name));
  let at = 0;
  const contents: Named<Uint8Array>[] = [];
  for (const [name, entry] of found) {
    await giveTurn();
    at = await endOf(zip, [name, entry], at);
    contents.push([name, await contentOf(zip, [name, entry])]);
  }
  if (at !== listAt) throw unfit("the file has something before, between or behind its parts");
  return filesIn(contents);
}

/** An entry's name in the file, and the entry or its content. */
type Named<What> = readonly [name: string, what: What];

/** The entries that are no files of a scope, with their most bytes. */
const aboutFiles: ReadonlyMap<string, number> = new Map([
  [labelName, transferLimits.labelBytesMax],
  [originsName, transferLimits.originsBytesMax],
]);

const flagEncrypted = 0x0001;
const flagDescriptor = 0x0008;
const flagStrong = 0x2040;
const methodStored = 0;
const methodDeflated = 8;
const extraZip64 = 0x0001;
const dosFolder = 0x10;
const unixKinds = 0o170000;
const unixFile = 0o100000;

/** Why an entry is refused, as a clause about "it", or `null`. Does not read the content. */
function refusalOfEntry(name: string, entry: Entry): string | null {
  const { generalPurposeBitFlag: flags, compressionMethod: method, externalFileAttributes: attributes } = entry;
  const { compressedSize, uncompressedSize, extraFields } = entry;
  if ((flags & (flagEncrypted | flagStrong)) !== 0) return "it is encrypted";
  if (name.endsWith("/") || (attributes & dosFolder) !== 0) return "it is a folder, only files are allowed";
  const kind = (attributes >>> 16) & unixKinds;
  if (kind !== 0 && kind !== unixFile) return "it is a link or no regular file";
  const isKnown = aboutFiles.has(name) || isScopePath(placeOf(name)?.path ?? "");
  if (!isKnown) return `its name is neither "${labelName}" nor a scope and a path inside it`;
  if (method !== methodStored && method !== methodDeflated) return `its compression is ${method}, allowed are 0 and 8`;
  if ((flags & flagDescriptor) !== 0) return "its size comes after its content, allowed only before it";
  if (extraFields.some(({ id }) => id === extraZip64)) return "it is in the zip64 form, which no export is";
  const bytesMax = aboutFiles.get(name) ?? storeLimits.fileBytesMax;
  if (uncompressedSize > bytesMax) return `it is ${uncompressedSize} bytes, at most ${bytesMax} allowed`;
  if (method === methodStored && compressedSize !== uncompressedSize) return "its two sizes do not agree";
  return null;
}

/** The fields that both headers of an entry have. Programs differ in which header they use. */
const toldTwice = [
  "generalPurposeBitFlag",
  "compressionMethod",
  "crc32",
  "compressedSize",
  "uncompressedSize",
] as const satisfies readonly (keyof Entry & keyof LocalFileHeader)[];

/** Where an entry's content ends. Throws unless the entry begins where the one before it ends, so no two overlap. */
async function endOf(zip: ZipFile, [name, entry]: Named<Entry>, at: number): Promise<number> {
  if (entry.relativeOffsetOfLocalHeader !== at) {
    throw unfit(`entry ${quoted(name)} does not begin where the one before it ends`);
  }
  const header = await zip.readLocalFileHeaderPromise(entry);
  const isSame = toldTwice.every((field) => header[field] === entry[field]);
  if (!isSame || !header.fileName.equals(entry.fileNameRaw)) {
    throw unfit(`entry ${quoted(name)} has two headers that do not agree`);
  }
  return header.fileDataStart + entry.compressedSize;
}

/** Reads an entry. Inflating ends as soon as there is more than was declared. */
async function contentOf(zip: ZipFile, [name, entry]: Named<Entry>): Promise<Buffer> {
  let content;
  try {
    const stream = await zip.openReadStreamPromise(entry);
    content = await boundedBytes(stream as AsyncIterable<Buffer>, entry.uncompressedSize);
  } catch (cause) {
    throw new ToolError("INPUT_INVALID", `Cannot read the zip file: entry ${quoted(name)} is damaged`, { cause });
  }
  if (content?.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) {
    throw unfit(`entry ${quoted(name)} is damaged`);
  }
  return content;
}

/** Throws if names are equal or differ only by case: on some disks they would be one file. */
function refuseDuplicates(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const earlier = seen.get(name.toLowerCase());
    if (earlier === name) throw unfit(`entry ${quoted(name)} is there twice`);
    if (earlier !== undefined) throw unfit(`entries ${quoted(earlier)} and ${quoted(name)} differ only by case`);
    seen.set(name.toLowerCase(), name);
  }
}

function filesIn([first, ...behind]: readonly Named<Uint8Array>[]): MemoryFile[] {
  const label = first?.[0] === labelName ? readLabel(first[1]) : null;
  if (label === null) throw unfit(`it does not begin with a "${labelName}" of version 1 or 2`);
  const [origins, others] = originsIn(behind);
  if (label.files !== others.length) throw unfit(`it holds ${others.length} files, and its label says ${label.files}`);
  return others.map(([name, content]) => {
    const trust = origins.get(name);
    const { scope, path } = placeOf(name) ?? { scope: "", path: name };
    if (!label.scopes.includes(scope)) throw unfit(`entry ${quoted(name)} is in no scope that the label names`);
    return Object.assign({ scope, path, content }, trust && { trust });
  });
}

/** What is told of the trust of files, and the files. */
function originsIn([first, ...others]: readonly Named<Uint8Array>[]): [
  origins: ReadonlyMap<string, OriginClass>,
  files: readonly Named<Uint8Array>[],
] {
  if (first === undefined) return [new Map(), []];
  // In another place, it is in no scope.
  if (first[0] !== originsName) return [new Map(), [first, ...others]];
  const origins = readOrigins(first[1]);
  if (origins === null) throw unfit(`its "${originsName}" is not of version 1, or names a file twice`);
  const names = new Set(others.map(([name]) => name));
  const missing = Array.from(origins.keys()).find((name) => !names.has(name));
  if (missing !== undefined) throw unfit(`its "${originsName}" names ${quoted(missing, 100)}, which is not there`);
  return [origins, others];
}

/** The declared bytes of the files of each scope, and of all together. */
class ScopeSums {
  readonly #byScope = new Map<string, number>();
  #all = 0;

  add(name: string, bytes: number): void {
    const scope = placeOf(name)?.scope ?? "";
    const sum = (this.#byScope.get(scope) ?? 0) + bytes;
    this.#byScope.set(scope, sum);
    this.#all += bytes;
    refuseMore(sum, storeLimits.scopeBytesMax);
    refuseMore(this.#all, transferLimits.exportBytesMax);
  }
}

function refuseMore(bytes: number, bytesMax: number): void {
  if (bytes > bytesMax) throw unfit(`its files are more than ${bytesMax} bytes, which is the most allowed`);
}

const unfit = (reason: string): ToolError => new ToolError("INPUT_INVALID", `Cannot read the zip file: ${reason}`);
