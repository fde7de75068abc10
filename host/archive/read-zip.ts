/**
 * Memory files from a zip file that anyone may have made. Sole importer of yauzl.
 *
 * Only one reading of the file is accepted: its parts lie side by side from the first byte to the last, both headers of
 * each entry agree, names are plain ASCII. So no other program sees other files in it than are imported. Everything is
 * bounded by what the headers declare before anything is inflated, and inflating ends where the declared size does.
 */
import { crc32 } from "node:zlib";

import { fromBufferPromise } from "yauzl";
import type { Entry, ZipFile } from "yauzl";

import { storeLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { labelName, placeOf, readLabel } from "./export-label.ts";
import { transferLimits } from "./transfer-limits.ts";
import { readZipEnd } from "./zip-end.ts";
import { areSame, refusalOfEntry } from "./zip-entry.ts";
import type { EntryFacts } from "./zip-entry.ts";

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
  const found: { entry: Entry; facts: EntryFacts }[] = [];
  const sums = new ScopeSums();
  for await (const entry of zip.eachEntry()) {
    const facts = factsOf(entry);
    refuse(facts.name, refusalOfEntry(facts));
    // A scope that is full to the last byte has a label too.
    if (facts.name !== labelName) sums.add(facts);
    found.push({ entry, facts });
  }
  refuseDuplicates(found.map(({ facts }) => facts.name));
  let at = 0;
  const named: NamedContent[] = [];
  for (const { entry, facts } of found) {
    at = await endOf(zip, { entry, facts }, at);
    named.push({ name: facts.name, content: await contentOf(zip, entry, facts) });
  }
  if (at !== listAt) throw unfit("the file has something before, between or behind its parts");
  return withoutLabel(named);
}

function factsOf(entry: Entry): EntryFacts {
  return {
    name: entry.fileNameRaw.toString(),
    flags: entry.generalPurposeBitFlag,
    method: entry.compressionMethod,
    crc32: entry.crc32,
    compressedSize: entry.compressedSize,
    uncompressedSize: entry.uncompressedSize,
    attributes: entry.externalFileAttributes,
    extraIds: entry.extraFields.map(({ id }) => id),
    offset: entry.relativeOffsetOfLocalHeader,
  };
}

/** Where an entry's content ends. It begins where the one before it ends, so no two lie over each other. */
async function endOf(zip: ZipFile, { entry, facts }: { entry: Entry; facts: EntryFacts }, at: number): Promise<number> {
  const { name } = facts;
  if (facts.offset !== at) throw unfit(`entry ${quoted(name)} does not begin where the one before it ends`);
  const header = await zip.readLocalFileHeaderPromise(entry);
  const {
    generalPurposeBitFlag: flags,
    compressionMethod: method,
    crc32: sum,
    compressedSize,
    uncompressedSize,
  } = header;
  const isSame = areSame(facts, { flags, method, crc32: sum, compressedSize, uncompressedSize });
  if (!isSame || !header.fileName.equals(entry.fileNameRaw)) {
    throw unfit(`entry ${quoted(name)} is told in two ways that do not agree`);
  }
  return header.fileDataStart + compressedSize;
}

/** Inflating ends as soon as there is more than was declared. */
async function contentOf(zip: ZipFile, entry: Entry, facts: EntryFacts): Promise<Buffer> {
  const { name, crc32: expected, uncompressedSize: size } = facts;
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of await zip.openReadStreamPromise(entry)) {
      pieces.push(piece as Buffer);
      length += (piece as Buffer).length;
      if (length > size) break;
    }
  } catch (cause) {
    throw new ToolError("INPUT_INVALID", `Cannot read the zip file: entry ${quoted(name)} is damaged`, { cause });
  }
  const content = Buffer.concat(pieces);
  if (length !== size || crc32(content) !== expected) throw unfit(`entry ${quoted(name)} is damaged`);
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

function withoutLabel([first, ...others]: readonly NamedContent[]): MemoryFile[] {
  const label = first?.name === labelName ? readLabel(first.content) : null;
  if (label === null) throw unfit(`it does not begin with a "${labelName}" of version 1 or 2`);
  if (label.files !== others.length) throw unfit(`it holds ${others.length} files, and its label says ${label.files}`);
  return others.map(({ name, content }) => {
    const { scope, path } = placeOf(name) ?? { scope: "", path: name };
    if (!label.scopes.includes(scope)) throw unfit(`entry ${quoted(name)} is of no scope that its label names`);
    return { scope, path, content };
  });
}

interface NamedContent {
  readonly name: string;
  readonly content: Uint8Array;
}

/** What the files of each scope, and of all together, take by what the headers declare. */
class ScopeSums {
  readonly #byScope = new Map<string, number>();
  #all = 0;

  add({ name, uncompressedSize }: EntryFacts): void {
    const scope = placeOf(name)?.scope ?? "";
    const sum = (this.#byScope.get(scope) ?? 0) + uncompressedSize;
    this.#byScope.set(scope, sum);
    this.#all += uncompressedSize;
    const { scopeBytesMax } = storeLimits;
    if (sum > scopeBytesMax) throw unfit(`its files are more than ${scopeBytesMax} bytes, which is the most allowed`);
    if (this.#all > transferLimits.exportBytesMax)
      throw unfit(`its files are more than ${transferLimits.exportBytesMax} bytes, which is the most allowed`);
  }
}

function refuse(name: string, reason: string | null): void {
  if (reason !== null) throw unfit(`entry ${quoted(name, 100)} is refused: ${reason}`);
}

const unfit = (reason: string): ToolError => new ToolError("INPUT_INVALID", `Cannot read the zip file: ${reason}`);
