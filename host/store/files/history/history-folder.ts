/**
 * The history of a home, in the host's own folder. No guest can name it.
 *
 *     .memcell/history/
 *       versions-<seq>.jsonl   versions, one in a line; the name has the number of the first
 *       contents-<seq>.jsonl   the contents of these versions, by their hashes
 *       present.json           where the present files come from, up to some version
 *       began-late             there were files before there was a history
 *       versions-lost          versions are missing: files that none of the others knows have no trust
 *       aged                   when old contents were last looked for, and by which process
 */
import * as z from "../../../../shared/zod.ts";
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { createOverLeftover } from "../../../disk/replace-file.ts";
import { readingSchema } from "../../../values/clock-reading.ts";
import type { ClockReading } from "../../../values/clock-reading.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { atOnce } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import { parseJson } from "../../reading.ts";
import { putAside } from "../put-aside.ts";

export const historyFolder = "history";
const lateMark = "began-late";
const lostMark = "versions-lost";
const agedMark = "aged";
const stagedAged = "aged-staged";
/** A history that cannot be used is renamed to this and a number. */
export const damagedHistoryPrefix = "history-damaged-";
const digits = 12;
const agedBytesMax = 256;

type SegmentKind = "versions" | "contents";

const nameOf = (kind: SegmentKind, first: number): string => `${kind}-${String(first).padStart(digits, "0")}.jsonl`;
export const contentsName = (first: number): string => nameOf("contents", first);

const namePattern = /^(versions|contents)-(\d{12})\.jsonl$/;

export class HistoryFolder implements Disposable {
  readonly folder: Directory;

  private constructor(folder: Directory) {
    this.folder = folder;
  }

  /** `null` if there is none. */
  static open(own: Directory): HistoryFolder | null {
    const folder = own.openFolder(historyFolder);
    return folder && new HistoryFolder(folder);
  }

  /** Durable once `own` is flushed. */
  static make(own: Directory): HistoryFolder {
    return new HistoryFolder(own.makeFolder(historyFolder));
  }

  get beganLate(): boolean {
    return this.folder.measure(lateMark) !== null;
  }

  /** Notes that the home has files of which no version tells. Durable once the folder is flushed. */
  markLate(): void {
    if (!this.beganLate) this.folder.create(lateMark, new Uint8Array(), lateMark);
  }

  get hasLost(): boolean {
    return this.folder.measure(lostMark) !== null;
  }

  /** Notes, durably, that versions are missing. Otherwise their files would seem to be made by hand. */
  markLost(): void {
    if (this.hasLost) return;
    this.folder.create(lostMark, new Uint8Array(), lostMark);
    this.folder.flushNow();
  }

  /** When old contents were last looked for; `null` if that is not known. */
  get aged(): ClockReading | null {
    using file = this.folder.openFile(agedMark, agedMark, "read");
    const text = file === null ? "" : file.read(0, Math.min(file.size(), agedBytesMax)).toString("latin1");
    const parsed = z.safeParse(readingSchema, parseJson(text));
    return parsed.success ? parsed.data : null;
  }

  noteAged(reading: ClockReading): void {
    createOverLeftover(this.folder, stagedAged, { content: Buffer.from(JSON.stringify(reading)), shown: agedMark });
    this.folder.rename(stagedAged, this.folder, agedMark);
  }

  /** The numbers of the first versions of all segments, in order. */
  segments(kind: SegmentKind): number[] {
    const found = this.folder.entries().flatMap(({ name }) => {
      const [, of, first] = namePattern.exec(name) ?? [];
      return of === kind ? [Number(first)] : [];
    });
    return found.toSorted((a, b) => a - b);
  }

  openSegment(kind: SegmentKind, first: number, use: "read" | "make"): DiskFile | null {
    const name = nameOf(kind, first);
    return this.folder.openFile(name, name, use);
  }

  /** Whether a segment gets no further versions. */
  isFull(first: number): boolean {
    return (["versions", "contents"] as const).some((kind) => this.bytesOf(kind, first) >= segmentBytesMax[kind]);
  }

  lines(kind: SegmentKind, first: number): string[] {
    return atOnce(this.readLines(kind, first));
  }

  /** The whole lines of a segment; none if there is no such segment. One large change set can have filled it. */
  *readLines(kind: SegmentKind, first: number): Pieces<string[]> {
    using file = this.openSegment(kind, first, "read");
    const bytes = file === null ? Buffer.alloc(0) : readBounded(file, kind);
    const lines: string[] = [];
    let at = 0;
    for (let end = bytes.indexOf("\n"); end >= 0; end = bytes.indexOf("\n", at)) {
      yield;
      lines.push(bytes.toString("utf8", at, end));
      at = end + 1;
    }
    return lines;
  }

  /** The lines of all versions, without segments that have only versions before some number. */
  *versionLines(from = 0): Generator<string> {
    const segments = this.segments("versions");
    for (const [at, first] of segments.entries()) {
      if ((segments[at + 1] ?? Infinity) > from) yield* this.lines("versions", first);
    }
  }

  bytesOf(kind: SegmentKind, first: number): number {
    return this.folder.measure(nameOf(kind, first))?.bytes ?? 0;
  }

  remove(kind: SegmentKind, first: number): void {
    const name = nameOf(kind, first);
    if (this.folder.measure(name) !== null) this.folder.remove(name);
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

const mib = 1024 * 1024;

const segmentBytesMax = { versions: mib / 4, contents: mib } as const;

/** A larger file is none of ours. One change set can hold 80 MiB, of which JSON makes six times as much. */
const fileBytesMax = { versions: 512 * mib, contents: 512 * mib, present: 64 * mib } as const;

/** Throws `STORAGE_UNSAFE` for a file that no host has written. */
export function readBounded(file: DiskFile, kind: keyof typeof fileBytesMax): Buffer {
  const bytes = file.size();
  if (bytes <= fileBytesMax[kind]) return file.read(0, bytes);
  const present = `a file of it is ${bytes} bytes, at most ${fileBytesMax[kind]} allowed`;
  throw new ToolError("STORAGE_UNSAFE", `Cannot use the history: ${present}`);
}

/** Renames a history that cannot be used, and makes another, which says that versions are missing. */
export function putHistoryAside(own: Directory): string {
  const name = putAside(own, historyFolder, damagedHistoryPrefix);
  using history = HistoryFolder.make(own);
  history.markLost();
  own.flushNow();
  return name;
}
