/** The segments of a journal as files, and what they say: versions and contents. */
import { gunzipSync } from "node:zlib";

import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { ToolError, orInstead } from "../../../values/tool-error.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { VersionHead } from "../../versions/version.ts";
import {
  JournalDamaged,
  contentLines,
  decodeContent,
  decodeHeader,
  hashOfLine,
  headerBytes,
  isPassing,
  isVoiding,
  journalLimits,
  readFrame,
} from "./format.ts";
import type { FoundFrame, HashedContent, ReadHeader } from "./format.ts";

export const journalFolder = "journal";

export interface Segment {
  /** The number of its first frame. */
  readonly first: number;
  readonly kind: "log" | "packed";
}

const digits = 12;
const nameOf = (first: number, ending: string): string => `${String(first).padStart(digits, "0")}.${ending}`;
export const logName = (first: number): string => nameOf(first, "log");
export const packedName = (first: number): string => nameOf(first, "log.gz");
export const contentsName = (first: number): string => nameOf(first, "contents.gz");

const namePattern = /^(\d{12})\.(log|log\.gz)$/;

/** The number in the name of a segment that is not packed; 0 of any other name. */
export function logNumber(name: string): number {
  const [, number, ending] = namePattern.exec(name) ?? [];
  return ending === "log" ? Number(number) : 0;
}

/** More of them no host makes. */
const segmentsMax = 4_096;

/**
 * In order. A segment that a crash has left in both forms is not packed. A file without a beginning is none: it was never
 * acknowledged. Throws `STORAGE_UNSAFE` if there are too many.
 */
export function segmentsIn(folder: Directory): Segment[] {
  const found = new Map<number, Segment>();
  for (const { name } of folder.entries()) {
    const [, number, ending] = namePattern.exec(name) ?? [];
    const first = Number(number);
    if (ending === "log.gz" && !found.has(first)) found.set(first, { first, kind: "packed" });
    if (ending === "log" && hasBeginning(folder, name)) found.set(first, { first, kind: "log" });
    if (found.size > segmentsMax) {
      const message = `Cannot use the journal: it has more than ${segmentsMax} segments, which no host makes`;
      throw new ToolError("STORAGE_UNSAFE", message);
    }
  }
  return Array.from(found.values()).toSorted((a, b) => a.first - b.first);
}

/** Removes files without a beginning, which are no segments: while one is there, each session reads the journal anew. */
export function removeEmpty(folder: Directory): void {
  const names = folder.entries().flatMap(({ name, kind }) => (kind === "file" ? [name] : []));
  for (const name of names) if (name.endsWith(".log") && !hasBeginning(folder, name)) folder.remove(name);
}

function hasBeginning(folder: Directory, name: string): boolean {
  using file = folder.openFile(name, name, "read");
  return file !== null && file.read(0, headerBytes).some((byte) => byte !== 0);
}

/** What a journal's segments say. `next`: the number of the next frame: no other counts from there on. */
export interface SegmentsSource {
  readonly folder: Directory;
  /** Of the home. */
  readonly owner: string;
  readonly next: number;
  /** The number of the segment that is written to. */
  readonly last: number;
  /** Its file, of a journal that is open: its versions are in no other segment's header, so it must never count as missing. */
  readonly file?: DiskFile;
}

export class Segments {
  readonly #from: SegmentsSource;
  readonly all: readonly Segment[];

  constructor(from: SegmentsSource) {
    this.#from = from;
    this.all = segmentsIn(from.folder);
  }

  /** The lines of all versions that count, the oldest first, of the segments from one on. */
  *versionLines(from = 0): Generator<string> {
    let held: readonly string[] = [];
    for (const segment of this.all) {
      if (segment.first < from) continue;
      for (const { facts, versions } of this.framesIn(segment).frames) {
        // A change that was taken back has no versions.
        if (!isVoiding(facts)) yield* held;
        held = versions;
      }
    }
    yield* held;
  }

  /** The last version before a segment; `null` if it is not there. */
  headBefore(first: number): VersionHead | null {
    const segment = this.all.find((each) => each.first === first);
    return segment === undefined ? null : (this.framesIn(segment).header?.head ?? null);
  }

  /** The frames of a segment that count, and its bytes; of a packed one without contents. */
  framesIn(segment: Segment): {
    readonly bytes: Buffer;
    readonly header: ReadHeader | null;
    readonly frames: Iterable<FoundFrame>;
  } {
    const { folder, owner, next, last, file } = this.#from;
    const isLog = segment.kind === "log";
    const isOpen = isLog && segment.first === last && file !== undefined;
    const packed = isLog ? null : unpack(readSegment(folder, packedName(segment.first)), journalLimits.packedLinesMax);
    const bytes = isOpen ? file.read(0, file.size()) : (packed ?? readSegment(folder, logName(segment.first)));
    const header = headerOf(bytes, owner, segment.first);
    const before = Math.min(next, this.all.find(({ first }) => first > segment.first)?.first ?? Infinity);
    return { bytes, header, frames: header === null ? [] : framesOf(bytes, header, { before, hasContents: isLog }) };
  }

  /** Contents by their hashes, without those that are not kept or are damaged: of several, the last one. */
  *contentsOf(hashes: Iterable<string>): Pieces<Map<string, Buffer>> {
    const wanted = new Set(hashes);
    const found = new Map<string, Buffer>();
    for (const segment of this.all.toReversed()) {
      if (wanted.size === 0) break;
      for (const { line } of this.contentLines(segment)) {
        yield;
        const content = wanted.has(hashOfLine(line)) ? decodeContent(line) : null;
        if (content === null) continue;
        found.set(content.sha256, content.content);
        wanted.delete(content.sha256);
      }
    }
    return found;
  }

  /** The contents that a segment keeps, without those that are damaged. */
  *contentsIn(segment: Segment): Generator<HashedContent> {
    for (const { line } of this.contentLines(segment)) {
      const content = decodeContent(line);
      if (content !== null) yield content;
    }
  }

  /** The first frame of the segment behind one. */
  firstBehind(segment: Segment): FoundFrame | undefined {
    const next = this.all[this.all.indexOf(segment) + 1];
    const [first] = next === undefined ? [] : this.framesIn(next).frames;
    return first;
  }

  /** Contents, by default those that versions name. Of a packed segment, others are gone. */
  *contentLines(segment: Segment, of: ChosenLines = namedBy): Generator<PlacedLine> {
    if (segment.kind === "packed") return yield* unpackedContents(this.#from.folder, segment.first);
    const { bytes, frames } = this.framesIn(segment);
    for (const frame of frames) yield* linesIn(bytes, frame, of(frame));
  }

  /** In settled frames, the texts of records, such as writes that wait, and of changes that were taken back: nobody needs them any more. */
  *passingIn(first: number, settled: number): Pieces<PlacedLine[]> {
    const { bytes, frames } = this.framesIn({ first, kind: "log" });
    const found: PlacedLine[] = [];
    let before: FoundFrame | null = null;
    for (const frame of frames) {
      yield;
      if (frame.seq > settled) break;
      if (before !== null && isVoiding(frame.facts)) found.push(...linesIn(bytes, before, () => true));
      before = frame;
      if (!isPassing(frame)) continue;
      const isNamed = namedBy(frame);
      found.push(...linesIn(bytes, frame, (line) => !isNamed(line)));
    }
    return found;
  }
}

type IsChosen = (line: string) => boolean;

/** Which lines of contents of a frame are meant; `null`: none. */
type ChosenLines = (frame: FoundFrame) => IsChosen | null;

function namedBy({ versions }: FoundFrame): IsChosen {
  const named = versions.join("\n");
  return (line) => named.includes(hashOfLine(line));
}

/** Those that versions of the frame name. */
export const namedLines = (bytes: Buffer, frame: FoundFrame): Generator<PlacedLine> =>
  linesIn(bytes, frame, namedBy(frame));

function* linesIn(bytes: Buffer, { contentsAt, end }: FoundFrame, isChosen: IsChosen | null): Generator<PlacedLine> {
  if (isChosen === null) return;
  for (const { line, at, bytes: length } of contentLines(bytes.subarray(contentsAt, end), contentsAt)) {
    if (line !== null && isChosen(line)) yield { at, bytes: length, line };
  }
}

/** Overwrites contents for good. That their frames are settled must be on the disk. */
export function overwrite(file: DiskFile, lines: Iterable<PlacedLine>): void {
  for (const { at, bytes } of lines) file.write(at, Buffer.alloc(bytes, " "));
}

/** A content's line, and where it is in a segment that is not packed. */
export interface PlacedLine {
  readonly at: number;
  readonly bytes: number;
  readonly line: string;
}

export function* unpackedContents(folder: Directory, first: number): Generator<PlacedLine> {
  const contents = unpack(readSegment(folder, contentsName(first)), journalLimits.fileBytesMax);
  for (const { line, at, bytes } of contentLines(contents)) {
    if (line !== null) yield { at, bytes, line };
  }
}

interface FrameBounds {
  readonly before: number;
  readonly hasContents: boolean;
}

function* framesOf(bytes: Buffer, header: ReadHeader, { before, hasContents }: FrameBounds): Generator<FoundFrame> {
  let place = { next: header.first, end: headerBytes, hash: header.hash };
  while (place.next < before) {
    const found = readFrame((at, length) => bytes.subarray(at, at + length), place, hasContents);
    if (found === null) return;
    yield found;
    place = { next: found.seq + 1, end: found.end, hash: found.hash };
  }
}

/** `null` for what is no segment: then its versions are missing. */
function headerOf(bytes: Buffer, owner: string, segment: number): ReadHeader | null {
  try {
    return decodeHeader(bytes, owner, segment);
  } catch (error) {
    if (error instanceof JournalDamaged) return null;
    throw error;
  }
}

/** Nothing if there is no such file, or one that no host has written: then its versions are missing. */
function readSegment(folder: Directory, name: string): Buffer {
  using file = orInstead(() => folder.openFile(name, name, "read"), null, "STORAGE_UNSAFE");
  const bytes = file?.size() ?? 0;
  return file === null || bytes > journalLimits.fileBytesMax ? Buffer.alloc(0) : file.read(0, bytes);
}

/** Nothing of what is damaged, or is too much. */
function unpack(packed: Buffer, bytesMax: number): Buffer {
  try {
    return packed.length === 0 ? packed : gunzipSync(packed, { maxOutputLength: bytesMax });
  } catch {
    return Buffer.alloc(0);
  }
}
