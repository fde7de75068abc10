/**
 * Memory files from a zip file that anyone may have made. Sole importer of yauzl.
 *
 * Only one reading of the file is accepted: its parts lie side by side from the first byte to the last, both headers of
 * each entry agree, names are plain ASCII. So no other program sees other files in it than are imported. Everything is
 * bounded by what the headers declare before anything is inflated, and inflating ends where the declared size does.
 */
import { crc32 } from "node:zlib";

import { fromBufferPromise } from "yauzl";
import type { Entry, LocalFileHeader, ZipFile } from "yauzl";

import { storeLimits } from "../../shared/limits.ts";
import { isScopePath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { boundedBytes } from "../values/bounded-bytes.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { labelName, placeOf, readLabel } from "./export-label.ts";
import { transferLimits } from "./transfer-limits.ts";
import { readZipEnd } from "./zip-end.ts";

/** Throws `INPUT_INVALID` for every file that is not exactly such a zip file, and names the entry that is not. */
export async function readZip(bytes: Buffer): Promise<MemoryFile[]> {
  const end = readZipEnd(bytes);
  if (typeof end === "string") throw unfit(`the file ${end}`);
  // With the label. The count is 16 bits wide and so bounds the list by itself.
  if (end.entries > transferLimits.filesMax + 1)
    throw unfit(`the file has ${end.entries} entries, at most ${transferLimits.filesMax + 1} allowed`);
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
    // A scope that is full to the last byte has a label too.
    if (name !== labelName) sums.add(name, entry.uncompressedSize);
    found.push([name, entry]);
  }
  refuseDuplicates(found.map(([name]) => name));
  let at = 0;
  const contents: Named<Uint8Array>[] = [];
  for (const [name, entry] of found) {
    at = await endOf(zip, [name, entry], at);
    contents.push([name, await contentOf(zip, [name, entry])]);
  }
  if (at !== listAt) throw unfit("the file has something before, between or behind its parts");
  return withoutLabel(contents);
}

/** An entry's name as it stands in the file, and the entry or its content. */
type Named<What> = readonly [name: string, what: What];

const flagEncrypted = 0x0001;
const flagDescriptor = 0x0008;
const flagStrong = 0x2040;
const methodStored = 0;
const methodDeflated = 8;
const extraZip64 = 0x0001;
const dosFolder = 0x10;
const unixKinds = 0o170000;
const unixFile = 0o100000;

/** Before anything of its content is looked at: why an entry is refused, as a clause about "it", or `null`. */
function refusalOfEntry(name: string, entry: Entry): string | null {
  const { generalPurposeBitFlag: flags, compressionMethod: method, externalFileAttributes: attributes } = entry;
  const { compressedSize, uncompressedSize, extraFields } = entry;
  if ((flags & (flagEncrypted | flagStrong)) !== 0) return "it is encrypted";
  if (name.endsWith("/") || (attributes & dosFolder) !== 0) return "it is a folder, only files are allowed";
  const kind = (attributes >>> 16) & unixKinds;
  if (kind !== 0 && kind !== unixFile) return "it is a link or no regular file";
  const isKnown = name === labelName || isScopePath(placeOf(name)?.path ?? "");
  if (!isKnown) return `its name is neither "${labelName}" nor a scope and a path inside it`;
  if (method !== methodStored && method !== methodDeflated) return `its compression is ${method}, allowed are 0 and 8`;
  if ((flags & flagDescriptor) !== 0) return "its size is told behind its content, only before it is allowed";
  if (extraFields.some(({ id }) => id === extraZip64)) return "it is in the zip64 form, which no export is";
  const bytesMax = name === labelName ? transferLimits.labelBytesMax : storeLimits.fileBytesMax;
  if (uncompressedSize > bytesMax) return `it is ${uncompressedSize} bytes, at most ${bytesMax} allowed`;
  if (method === methodStored && compressedSize !== uncompressedSize) return "its two sizes do not agree";
  return null;
}

/** What both headers of an entry tell. Readers differ in which they go by. */
const toldTwice = [
  "generalPurposeBitFlag",
  "compressionMethod",
  "crc32",
  "compressedSize",
  "uncompressedSize",
] as const satisfies readonly (keyof Entry & keyof LocalFileHeader)[];

/** Where an entry's content ends. It begins where the one before it ends, so no two lie over each other. */
async function endOf(zip: ZipFile, [name, entry]: Named<Entry>, at: number): Promise<number> {
  if (entry.relativeOffsetOfLocalHeader !== at) {
    throw unfit(`entry ${quoted(name)} does not begin where the one before it ends`);
  }
  const header = await zip.readLocalFileHeaderPromise(entry);
  const isSame = toldTwice.every((field) => header[field] === entry[field]);
  if (!isSame || !header.fileName.equals(entry.fileNameRaw)) {
    throw unfit(`entry ${quoted(name)} is told in two ways that do not agree`);
  }
  return header.fileDataStart + entry.compressedSize;
}

/** Inflating ends as soon as there is more than was declared. */
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

/** Names that only case tells apart would be one file on some disks. */
function refuseDuplicates(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const earlier = seen.get(name.toLowerCase());
    if (earlier === name) throw unfit(`entry ${quoted(name)} is there twice`);
    if (earlier !== undefined) throw unfit(`entries ${quoted(earlier)} and ${quoted(name)} differ only by case`);
    seen.set(name.toLowerCase(), name);
  }
}

function withoutLabel([first, ...others]: readonly Named<Uint8Array>[]): MemoryFile[] {
  const label = first?.[0] === labelName ? readLabel(first[1]) : null;
  if (label === null) throw unfit(`it does not begin with a "${labelName}" of version 1 or 2`);
  if (label.files !== others.length) throw unfit(`it holds ${others.length} files, and its label says ${label.files}`);
  return others.map(([name, content]) => {
    const { scope, path } = placeOf(name) ?? { scope: "", path: name };
    if (!label.scopes.includes(scope)) throw unfit(`entry ${quoted(name)} is of no scope that its label names`);
    return { scope, path, content };
  });
}

/** What the files of each scope, and of all together, take by what the headers declare. */
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
