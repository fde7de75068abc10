/**
 * Reads memory files from an untrusted zip file. Only this file imports yauzl.
 *
 * Accepts a file only if it can be read in one way: its parts follow one another from the first byte to the last, what is
 * told twice of an entry agrees, names are plain ASCII. So other programs find the same files in it. All limits are
 * checked against the declared sizes before anything is inflated, and inflating ends at the declared size.
 *
 * What a desktop adds when a person packs an export again is left out: folders, and the files of `isOfMac`.
 */
import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";

import { fromBufferPromise, parseExtraFields } from "yauzl";
import type { Entry, LocalFileHeader, ZipFile } from "yauzl";

import { storeLimits } from "../../shared/limits.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { isScopePath, scopeName } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { labelName, placeOf, readLabel } from "./export-label.ts";
import { originsName, readOrigins } from "./export-origins.ts";
import { transferLimits } from "./transfer-limits.ts";

/** Throws `INPUT_INVALID` for any other zip file, and names the wrong entry. */
export async function readZip(bytes: Buffer): Promise<MemoryFile[]> {
  const end = readZipEnd(bytes);
  if (typeof end === "string") throw unfit(`the file ${end}`);
  // The count has 16 bits, so the list is bounded anyway.
  const entriesMax = transferLimits.filesMax + aboutFiles.size;
  if (end.entries > entriesMax) throw unfit(`the file has ${end.entries} entries, at most ${entriesMax} allowed`);
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false, validateEntrySizes: false });
    return await readEntries(zip, bytes.subarray(0, end.listAt));
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError("INPUT_INVALID", "Cannot read the zip file: it is damaged", { cause: error });
  }
}

/** The last 22 bytes of a zip file, which say where its list of entries is. */
const endBytes = 22;
const endSignature = 0x06054b50;

interface ZipEnd {
  readonly entries: number;
  readonly listAt: number;
}

/**
 * Reads the end only where it must be: a comment, or anything behind it, could be a second end for another program.
 * Returns why the end is invalid, as a clause about "the file".
 */
function readZipEnd(bytes: Buffer): ZipEnd | string {
  const at = bytes.length - endBytes;
  if (at < 0 || bytes.readUInt32LE(at) !== endSignature)
    return "is no zip file, is incomplete, or has something after its end";
  const [disk, listDisk, onDisk, entries] = [4, 6, 8, 10].map((place) => bytes.readUInt16LE(at + place));
  const [listBytes, listAt] = [bytes.readUInt32LE(at + 12), bytes.readUInt32LE(at + 16)];
  if (disk !== 0 || listDisk !== 0 || entries === undefined || onDisk !== entries) return "is one part of a zip file";
  if (bytes.readUInt16LE(at + 20) !== 0) return "has a comment, which no export has";
  if (entries === 0xffff || listAt === 0xffffffff) return "is in the zip64 form, which no export is";
  if (listAt + listBytes !== at) return "has something before, between or behind its parts";
  return { entries, listAt };
}

/** `parts`: everything before the list of entries. */
async function readEntries(zip: ZipFile, parts: Buffer): Promise<MemoryFile[]> {
  const listed: Named<Entry>[] = [];
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileNameRaw.toString();
    if (!isPlainName(name)) throw refused(name, noName);
    listed.push([name, entry]);
    await giveTurn();
  }
  const top = folderAround(listed.map(([name]) => name));
  const places = new Map<string, string>();
  const sums = new ScopeSums();
  const found: (Found & { readonly named: Named<Entry> })[] = [];
  for (const named of listed) {
    const [name, entry] = named;
    await giveTurn();
    refuseDuplicate(name, places);
    const { below, kind } = foundAs(name, top);
    found.push({ named, below, kind });
    const reason = refusalOfEntry(entry, kind, below);
    if (reason !== null) throw refused(name, reason);
    // What is said about the files does not count: a scope can be full to the last byte.
    if (kind !== "about") sums.add(kind === "file" ? below : "", entry.uncompressedSize);
  }
  let endsAt = 0;
  const contents: Named<Uint8Array>[] = [];
  for (const { named, below, kind } of found) {
    await giveTurn();
    const data = await dataOf(zip, named, { parts, at: endsAt });
    endsAt = data.endsAt;
    // Also of what is left out: what is hidden in it could be a file for another program.
    const content = await contentOf(data.bytes, named);
    if (kind === "about" || kind === "file") contents.push([below, content]);
  }
  if (endsAt !== parts.length) throw unfit("the file has something before, between or behind its parts");
  return filesIn(new Map(contents));
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
/** A name in Unicode, which some programs use instead of the other one. */
const extraName = 0x7075;
const slash = 0x2f;
const dosFolder = 0x10;
const unixKinds = 0o170000;
const unixFile = 0o100000;
const unixFolder = 0o040000;

type Kind = "about" | "file" | "folder" | "left-out";

/** What an entry is, and its name below the folder that was packed. */
interface Found {
  readonly below: string;
  readonly kind: Kind | null;
}

const noName = `its name is neither "${labelName}" nor a scope and a path inside it`;

/** Whether every program takes a name for the same path, which leads nowhere else. It can end with a slash. */
const isPlainName = (name: string): boolean =>
  name.length <= nameCharsMax &&
  /^[ -~]+$/.test(name) &&
  !/[\\:]/.test(name) &&
  name
    .replace(/\/$/, "")
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== "..");

/** A folder's name of 255 characters, a scope and a path. */
const nameCharsMax = 600;

/** The one folder around everything, which is there if a person has packed the folder and not what is in it. */
function folderAround(names: readonly string[]): string {
  const [label = "", ...others] = names.includes(labelName) ? [] : names.filter(isLabelBelow);
  return others.length === 0 ? label.slice(0, -labelName.length) : "";
}

const isLabelBelow = (name: string): boolean => name.endsWith(`/${labelName}`) && name.split("/", 3).length === 2;

function foundAs(name: string, top: string): Found {
  if (!name.startsWith(top)) return { below: name, kind: isOfMac(name) ? "left-out" : null };
  const below = name.slice(top.length);
  return { below, kind: kindOf(below) };
}

function kindOf(name: string): Kind | null {
  if (aboutFiles.has(name)) return "about";
  if (isOfMac(name)) return "left-out";
  if (isScopePath(placeOf(name)?.path ?? "")) return "file";
  const folder = name.replace(/\/$/, "");
  const isFolder = name === "" || (folder !== name && (scopeName.test(folder) || kindOf(folder) === "file"));
  return isFolder ? "folder" : null;
}

/** What macOS keeps for itself: how a folder is shown, and what a file has besides its content. No path of ours is one. */
const isOfMac = (name: string): boolean => /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|\._[^/]*)$/.test(name);

/** Why an entry is refused, as a clause about "it", or `null`. Does not read the content. */
function refusalOfEntry(entry: Entry, found: Kind | null, below: string): string | null {
  const { generalPurposeBitFlag: flags, compressionMethod: method, externalFileAttributes: attributes } = entry;
  const { compressedSize, uncompressedSize, extraFields } = entry;
  if ((flags & (flagEncrypted | flagStrong)) !== 0) return "it is encrypted";
  const isFolder = entry.fileNameRaw.at(-1) === slash;
  if (!isFolder && (attributes & dosFolder) !== 0) return "it is a folder without a slash at its end";
  const kind = (attributes >>> 16) & unixKinds;
  if (kind !== 0 && kind !== (isFolder ? unixFolder : unixFile)) return "it is a link or no regular file";
  if (found === null) return noName;
  if (isFolder && uncompressedSize !== 0) return "it is a folder with a content";
  if (method !== methodStored && method !== methodDeflated) return `its compression is ${method}, allowed are 0 and 8`;
  // Whoever reads the file from its beginning would have to search for the end of such a content.
  if ((flags & flagDescriptor) !== 0 && method === methodStored && compressedSize !== 0) {
    return "its size comes after its content, which is not compressed";
  }
  if (extraFields.some(({ id }) => id === extraZip64)) return "it is in the zip64 form, which no export is";
  if (extraFields.some(({ id }) => id === extraName)) return "it has a second name";
  const bytesMax = aboutFiles.get(below) ?? storeLimits.fileBytesMax;
  if (uncompressedSize > bytesMax) return `it is ${uncompressedSize} bytes, at most ${bytesMax} allowed`;
  if (method === methodStored && compressedSize !== uncompressedSize) return "its two sizes do not agree";
  return null;
}

/** The fields that both headers of an entry have. Programs differ in which header they use. */
const toldTwice = ["generalPurposeBitFlag", "compressionMethod"] as const;
const measures = ["crc32", "compressedSize", "uncompressedSize"] as const;

interface ZipPlace {
  readonly parts: Buffer;
  /** Where the entry before ends. */
  readonly at: number;
}

/** An entry's bytes, and where it ends. Throws unless it begins where the one before it ends, so no two overlap. */
async function dataOf(
  zip: ZipFile,
  [name, entry]: Named<Entry>,
  { parts, at }: ZipPlace,
): Promise<{ readonly bytes: Buffer; readonly endsAt: number }> {
  if (entry.relativeOffsetOfLocalHeader !== at) {
    throw unfit(`entry ${quoted(name)} does not begin where the one before it ends`);
  }
  const header = await zip.readLocalFileHeaderPromise(entry);
  const isStreamed = (entry.generalPurposeBitFlag & flagDescriptor) !== 0;
  const isSame =
    toldTwice.every((field) => header[field] === entry[field]) &&
    measures.every((field) => header[field] === entry[field] || (isStreamed && header[field] === 0));
  if (!isSame || !header.fileName.equals(entry.fileNameRaw) || tellsOther(header)) {
    throw unfit(`entry ${quoted(name)} has two headers that do not agree`);
  }
  const dataEnd = header.fileDataStart + entry.compressedSize;
  const endsAt = isStreamed ? dataEnd + measuresBehind(parts.subarray(dataEnd), [name, entry]) : dataEnd;
  if (endsAt > parts.length) throw damaged(name);
  return { bytes: parts.subarray(header.fileDataStart, dataEnd), endsAt };
}

/** Whether a header in front of an entry has fields that the list of entries must not have. */
const tellsOther = ({ extraField }: LocalFileHeader): boolean =>
  parseExtraFields(extraField).some(({ id }) => id === extraZip64 || id === extraName);

/** How long the measures behind an entry's content are. A program that streams a zip file knows them only then. */
function measuresBehind(bytes: Buffer, [name, entry]: Named<Entry>): number {
  const told = Buffer.alloc(16);
  told.writeUInt32LE(measuresSignature, 0);
  measures.forEach((field, place) => told.writeUInt32LE(entry[field], 4 + 4 * place));
  const behind = bytes.subarray(0, told.length);
  if (behind.equals(told)) return told.length;
  // The signature is optional.
  if (behind.subarray(0, 12).equals(told.subarray(4))) return 12;
  throw unfit(`entry ${quoted(name)} has measures behind its content that do not agree`);
}

const measuresSignature = 0x08074b50;

/** Inflates an entry. Ends as soon as there is more than was declared. */
async function contentOf(data: Buffer, [name, entry]: Named<Entry>): Promise<Buffer> {
  const isDeflated = entry.compressionMethod === methodDeflated;
  const content = isDeflated ? await inflated(data, [name, entry]) : Buffer.from(data);
  if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) throw damaged(name);
  return content;
}

async function inflated(data: Buffer, [name, entry]: Named<Entry>): Promise<Buffer> {
  let result;
  try {
    result = await inflate(data, { maxOutputLength: Math.max(1, entry.uncompressedSize), info: true });
  } catch (cause) {
    throw damaged(name, cause);
  }
  const { buffer, engine } = result as unknown as Inflated;
  // For a program that reads the file from its beginning, other entries could be in the rest.
  if (engine.bytesWritten !== data.length) throw damaged(name);
  return buffer;
}

const inflate = promisify(inflateRaw);

/** What `info: true` gives. */
interface Inflated {
  readonly buffer: Buffer;
  /** `bytesWritten`: how many of the deflated bytes were needed. */
  readonly engine: { readonly bytesWritten: number };
}

/** Throws if another name is equal or differs only by case or a slash: on some disks they would be one file. */
function refuseDuplicate(name: string, places: Map<string, string>): void {
  const place = name.replace(/\/$/, "").toLowerCase();
  const earlier = places.get(place);
  if (earlier === name) throw unfit(`entry ${quoted(name)} is there twice`);
  if (earlier !== undefined) {
    throw unfit(`entries ${quoted(earlier)} and ${quoted(name)} differ only by case or a slash`);
  }
  places.set(place, name);
}

function filesIn(contents: ReadonlyMap<string, Uint8Array>): MemoryFile[] {
  const told = contents.get(labelName);
  const label = told === undefined ? null : readLabel(told);
  if (label === null) throw unfit(`it has no "${labelName}" of version 1 or 2`);
  const others = Array.from(contents).filter(([name]) => !aboutFiles.has(name));
  const origins = originsIn(contents);
  if (label.files !== others.length) throw unfit(`it holds ${others.length} files, and its label says ${label.files}`);
  return others.map(([name, content]) => {
    const trust = origins.get(name);
    const { scope, path } = placeOf(name) ?? { scope: "", path: name };
    if (!label.scopes.includes(scope)) throw unfit(`entry ${quoted(name)} is in no scope that the label names`);
    return Object.assign({ scope, path, content }, trust && { trust });
  });
}

/** What is told of the trust of files. */
function originsIn(contents: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, OriginClass> {
  const told = contents.get(originsName);
  if (told === undefined) return new Map();
  const origins = readOrigins(told);
  if (origins === null) throw unfit(`its "${originsName}" is not of version 1, or names a file twice`);
  const missing = Array.from(origins.keys()).find((name) => aboutFiles.has(name) || !contents.has(name));
  if (missing !== undefined) throw unfit(`its "${originsName}" names ${quoted(missing, 100)}, which is not there`);
  return origins;
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

const refused = (name: string, reason: string): ToolError => unfit(`entry ${quoted(name, 100)} is refused: ${reason}`);

const damaged = (name: string, cause?: unknown): ToolError =>
  new ToolError("INPUT_INVALID", `Cannot read the zip file: entry ${quoted(name)} is damaged`, { cause });

const unfit = (reason: string): ToolError => new ToolError("INPUT_INVALID", `Cannot read the zip file: ${reason}`);
