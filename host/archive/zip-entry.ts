/** What is accepted of one entry of a zip file, before anything of its content is looked at. */
import { storeLimits } from "../../shared/limits.ts";
import { isScopePath } from "../../shared/path.ts";
import { labelName, placeOf } from "./export-label.ts";
import { transferLimits } from "./transfer-limits.ts";

/** As both of an entry's headers tell it. */
export interface EntryHeader {
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly compressedSize: number;
  readonly uncompressedSize: number;
}

export interface EntryFacts extends EntryHeader {
  readonly name: string;
  /** Where a system keeps rights and kinds of files. */
  readonly attributes: number;
  readonly extraIds: readonly number[];
  readonly offset: number;
}

const flagEncrypted = 0x0001;
const flagDescriptor = 0x0008;
const flagStrong = 0x2040;
const methodStored = 0;
const methodDeflated = 8;
const extraZip64 = 0x0001;
const dosFolder = 0x10;
const unixKinds = 0o170000;
const unixFile = 0o100000;

/** Why an entry is refused, as a clause about "it"; `null` when there is no reason. */
export function refusalOfEntry(entry: EntryFacts): string | null {
  const { name, flags, method, attributes, extraIds, compressedSize, uncompressedSize } = entry;
  if ((flags & (flagEncrypted | flagStrong)) !== 0) return "it is encrypted";
  if (name.endsWith("/") || (attributes & dosFolder) !== 0) return "it is a folder, only files are allowed";
  const kind = (attributes >>> 16) & unixKinds;
  if (kind !== 0 && kind !== unixFile) return "it is a link or no regular file";
  if (!isName(name)) return `its name is neither "${labelName}" nor a scope and a path inside it`;
  if (method !== methodStored && method !== methodDeflated) return `its compression is ${method}, allowed are 0 and 8`;
  if ((flags & flagDescriptor) !== 0) return "its size is told behind its content, only before it is allowed";
  if (extraIds.includes(extraZip64)) return "it is in the zip64 form, which no export is";
  const bytesMax = name === labelName ? transferLimits.labelBytesMax : storeLimits.fileBytesMax;
  if (uncompressedSize > bytesMax) return `it is ${uncompressedSize} bytes, at most ${bytesMax} allowed`;
  if (method === methodStored && compressedSize !== uncompressedSize) return "its two sizes do not agree";
  return null;
}

const isName = (name: string): boolean => name === labelName || isScopePath(placeOf(name)?.path ?? "");

/** Whether both headers of an entry say the same: readers differ in which they go by. */
export function areSame(a: EntryHeader, b: EntryHeader): boolean {
  return (
    a.flags === b.flags &&
    a.method === b.method &&
    a.crc32 === b.crc32 &&
    a.compressedSize === b.compressedSize &&
    a.uncompressedSize === b.uncompressedSize
  );
}
