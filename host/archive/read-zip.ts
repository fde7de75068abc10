/**
 * Reads memory files from an untrusted zip file: an export, as it is or packed again by any program. Only this file
 * imports yauzl.
 *
 * What counts is the list of entries at the end of the file. Refused is what could be taken in two ways, what leads
 * elsewhere, and what is too large: by the declared sizes, at which inflating ends. Contents are read when they are asked for.
 */
import { isUtf8 } from "node:buffer";
import { callbackify, promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";

import { RandomAccessReader, fromRandomAccessReaderPromise, getFileNameLowLevel, parseExtraFields } from "yauzl";
import type { Entry, ZipFile } from "yauzl";

import { encodedPath, foldedPath } from "../../shared/encoded-name.ts";
import { storeLimits } from "../../shared/limits.ts";
import { lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { isScopePath, scopeName } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { OpenFile } from "../disk/bounded-file.ts";
import { failureOfDisk } from "../disk/disk-failure.ts";
import type { MemoryFile, UnreadFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { filesToldBy, labelName, originsName, originsToldBy } from "./about-entries.ts";
import { transferLimits } from "./transfer-limits.ts";

const { aboutBytesMax } = transferLimits;
const inflate = promisify(inflateRaw);

/** The file must stay open while contents are read. Throws `INPUT_INVALID` for any other zip file, and names the wrong entry. */
export async function readZip(file: OpenFile): Promise<UnreadFile[]> {
  try {
    const options = { autoClose: false, validateEntrySizes: false };
    const zip = await fromRandomAccessReaderPromise(new ReaderAhead(file), file.bytes, options);
    const entries = await listOf(zip, file);
    const top = folderAround(entries);
    const places = await placesOf(entries, top);
    const found = new Map<string, UnreadEntry>();
    for (const entry of entries) {
      await giveTurn();
      const [at, place] = [await contentAt(zip, entry, top), places.get(entry)];
      if (place === undefined) continue;
      found.set(place, { bytes: entry.uncompressedSize, read: () => contentOf(file, entry, at) });
    }
    return await filesIn(found);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw unfit(`it is no sound zip file: ${quoted((error as Error).message, 120)}`, error);
  }
}

const aheadBytes = 64 * 1024;

/** Reads more than it is asked for: yauzl asks for some bytes after others. It can ask for any place, such as the file names. */
class ReaderAhead extends RandomAccessReader {
  readonly #file: OpenFile;
  #at = 0;
  #ahead: Buffer = Buffer.alloc(0);

  constructor(file: OpenFile) {
    super();
    this.#file = file;
  }

  override read(...[to, offset, bytes, at, done]: Parameters<RandomAccessReader["read"]>): void {
    callbackify(async () => (await this.#part(at, bytes)).copy(to, offset))(done);
  }

  async #part(at: number, bytes: number): Promise<Buffer> {
    if (at < this.#at || at + bytes > this.#at + this.#ahead.length) {
      this.#ahead = await this.#file.read(at, Math.max(bytes, aheadBytes));
      this.#at = at;
    }
    return this.#ahead.subarray(at - this.#at, at - this.#at + bytes);
  }
}

/** Reads the list of entries. It lies before the end and is as long as that says, so all programs read the same one. */
async function listOf(zip: ZipFile, file: OpenFile): Promise<Entry[]> {
  const endAt = file.bytes - 22 - zip.comment.length;
  const end = await file.read(endAt, 22);
  const [listBytes, listAt] = [end.readUInt32LE(12), end.readUInt32LE(16)];
  // A number, whatever its type says. It is another one if a second end (zip64) tells of another list.
  const isThere = Number(zip.readEntryCursor) === listAt && zip.entryCount === end.readUInt16LE(10);
  if (!isThere || listAt + listBytes !== endAt) throw unfit("its list is not before its end; pack again without zip64");
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) entries.push(entry);
  if (Number(zip.readEntryCursor) !== endAt) throw unfit("its list has more entries than its end says");
  const packed = entries.reduce((sum, { compressedSize }) => sum + compressedSize, 0);
  if (packed > file.bytes) throw unfit(`its entries have ${packed} bytes; expected at most ${file.bytes}`);
  return entries;
}

/** Many programs write UTF-8 and do not say so, as that of macOS. No text of another encoding looks like it. */
const nameFrom = (flags: number, bytes: Buffer, extra: Entry["extraFields"]): string =>
  getFileNameLowLevel(isUtf8(bytes) ? flags | utf8Flag : flags, bytes, extra, false);

const utf8Flag = 0x800;

const nameOf = (entry: Entry): string => nameFrom(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields);

/** A name without what some programs write before each. yauzl has made slashes of backslashes. */
const plain = (name: string): string => name.replace(/^(?:\.\/)+/, "");

/** The folders around everything, which are there if a person has packed a folder and not what is in it. */
function folderAround(entries: readonly Entry[]): string {
  const names = entries.map((entry) => plain(nameOf(entry)));
  const about = names.filter((name) => isAbout(name.slice(name.lastIndexOf("/") + 1)));
  const [outermost = ""] = about.toSorted((a, b) => a.length - b.length);
  return outermost.slice(0, outermost.lastIndexOf("/") + 1);
}

/** Where the entries that are read belong: the scope and path of a file, or the name of an entry about the export. */
async function placesOf(entries: readonly Entry[], top: string): Promise<Map<Entry, string>> {
  const places = new Map<Entry, string>();
  const names = new Map<string, string>();
  for (const entry of entries) {
    await giveTurn();
    const name = plain(nameOf(entry));
    const place = (name.startsWith(top) ? encodedPath(name.slice(top.length)) : null) ?? "";
    const reason = refusalOf(entry, place);
    if (reason !== null) throw refused(entry, reason);
    if (!isAbout(place) && fileAt(place) === null) continue;
    const folded = foldedPath(place);
    const earlier = names.get(folded);
    if (earlier !== undefined) throw refused(entry, `on some disks it has the name of ${quoted(earlier)}`);
    names.set(folded, name);
    places.set(entry, place);
  }
  return places;
}

export const isAbout = (place: string): boolean => place === labelName || place === originsName;

function fileAt(place: string): Pick<MemoryFile, "scope" | "path"> | null {
  const [scope = "", ...names] = place.split("/");
  const path = names.join("/");
  return scopeName.test(scope) && isScopePath(path) ? { scope, path } : null;
}

/** What desktops and `jar` put beside a person's files. In a scope, a name that a path can have is that of a file. */
export const ofDesktop =
  /^__MACOSX\/|^META-INF\/MANIFEST\.MF$|(?:^|\/)(?:\.DS_Store|\._[^/]*|Thumbs\.db|desktop\.ini)$/i;

const [unixKinds, unixFile, unixFolder, dosFolder] = [0o170000, 0o100000, 0o040000, 0x10];

/** Why an entry is refused, as a clause about "it", or `null`. Does not read the content. */
function refusalOf(entry: Entry, place: string): string | null {
  const { externalFileAttributes: attributes, compressionMethod: method } = entry;
  const { uncompressedSize: size, compressedSize: packed } = entry;
  const fileName = nameOf(entry);
  const kind = (attributes >>> 16) & unixKinds;
  const isFolder = fileName.endsWith("/");
  if (/\p{Cc}/u.test(fileName)) return "its name has a control character";
  if (kind !== 0 && kind !== (isFolder ? unixFolder : unixFile)) return "it is a link or no regular file";
  if (!isFolder && (attributes & dosFolder) !== 0) return "it is a folder without a slash at its end";
  if (isFolder) return size === 0 ? null : "it is a folder with a content";
  if (!isAbout(place) && fileAt(place) === null) return ofDesktop.test(plain(fileName)) ? null : noName;
  if (!entry.canDecodeFileData()) return `it is encrypted, or its compression is ${method}; expected 0 or 8`;
  const bytesMax = isAbout(place) ? aboutBytesMax : storeLimits.fileBytesMax;
  if (size > bytesMax) return `it is ${size} bytes; expected at most ${bytesMax}`;
  // As large as they are before they are packed, and what packing can add.
  const packedMax = 2 * bytesMax;
  return packed > packedMax ? `it is packed into ${packed} bytes; expected at most ${packedMax}` : null;
}

const noName = `its name is neither "${labelName}" nor a scope and a path inside it`;

/** Where an entry's content begins. Throws if a program that reads what is before it could take it for another one. */
async function contentAt(zip: ZipFile, entry: Entry, top: string): Promise<number> {
  const header = await zip.readLocalFileHeaderPromise(entry).catch(() => null);
  if (header === null) throw refused(entry, damaged);
  const { fileName: bytes, generalPurposeBitFlag: flags } = header;
  const names = [[], parseExtraFields(header.extraField)].map((each) => nameFrom(flags, bytes, each));
  // The folders around everything can be of any language, and look different in each encoding.
  const depth = top.split("/").length - 1;
  const below = (name: string): string => plain(name).split("/").slice(depth).join("/");
  const isOne = bytes.equals(entry.fileNameRaw) && names.every((name) => below(name) === below(nameOf(entry)));
  if (!isOne) throw refused(entry, `it has another name, too: ${quoted(names.join(" or "))}`);
  const isSame =
    header.compressionMethod === entry.compressionMethod &&
    measures.every((each) => untold.has(header[each]) || header[each] === entry[each]);
  if (!isSame) throw refused(entry, "what is told of it twice does not agree");
  return header.fileDataStart;
}

/** What a program can leave open before a content, if it tells it behind the content or in the zip64 form. */
const measures = ["crc32", "compressedSize", "uncompressedSize"] as const;
const untold: ReadonlySet<number> = new Set([0, 0xffffffff]);

async function contentOf(file: OpenFile, entry: Entry, at: number): Promise<Buffer> {
  const { compressionMethod, uncompressedSize: bytes } = entry;
  const packed = await file.read(at, entry.compressedSize).catch((error: unknown) => {
    throw failureOfDisk(error, "read the export");
  });
  const options = { maxOutputLength: Math.max(1, bytes) };
  const content = compressionMethod === 0 ? packed : await inflate(packed, options).catch(() => null);
  if (content?.length !== bytes || crc32(content) !== entry.crc32) throw refused(entry, damaged);
  return content;
}

export type UnreadEntry = Pick<UnreadFile, "bytes" | "read">;

/** The files of an export, by the names that they have in it. */
export async function filesIn(entries: ReadonlyMap<string, UnreadEntry>): Promise<UnreadFile[]> {
  const [label, told] = [await entries.get(labelName)?.read(), await entries.get(originsName)?.read()];
  const filesTold = label === undefined ? 0 : filesToldBy(label);
  if (filesTold === undefined) throw unfit(`its "${labelName}" is not of version 1 or 2`);
  const origins = told === undefined ? new Map<string, never>() : originsToldBy(told);
  if (origins === undefined) throw unfit(`its "${originsName}" is not of version 1, or names a file twice`);
  const files = Array.from(entries).flatMap(([place, entry]) => {
    const [at, trust] = [fileAt(place), origins.get(place)];
    return at === null ? [] : [{ ...at, ...entry, ...(trust && { trust }) }];
  });
  if (label === undefined && files.length === 0) throw unfit(`it has neither "${labelName}" nor a file of a scope`);
  // Who takes files out need not change what is told of them.
  const missing = Array.from(origins.keys()).filter((name) => !entries.has(name));
  if (missing.length <= Math.max(0, filesTold - files.length)) return lowered(files, missing, origins);
  throw unfit(`its "${originsName}" names ${quoted(missing[0] ?? "", 100)}; expected the name of a file that is there`);
}

/** One that is told of and is gone can be there under another name, so nothing in its scope is trusted more. */
function lowered(
  files: readonly UnreadFile[],
  missing: readonly string[],
  origins: ReadonlyMap<string, OriginClass>,
): UnreadFile[] {
  const lowest = new Map<string, OriginClass>();
  for (const name of missing) {
    const [scope = ""] = name.split("/", 1);
    lowest.set(scope, lowestOf(lowest.get(scope) ?? "unstated", origins.get(name) ?? "unstated"));
  }
  return files.map((file) => {
    const gone = lowest.get(file.scope);
    return gone === undefined ? file : { ...file, trust: lowestOf(file.trust ?? "unstated", gone) };
  });
}

const damaged = "it is damaged";

const refused = (entry: Entry, reason: string): ToolError =>
  unfit(`entry ${quoted(nameOf(entry), 100)} is refused: ${reason}`);

const unfit = (reason: string, cause?: unknown): ToolError =>
  new ToolError("INPUT_INVALID", `Cannot read the export: ${reason}`, { cause });
