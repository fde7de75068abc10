/**
 * Moves versions from the WAL to the history. Called when the WAL is retired, before its records are dropped: a crash
 * in between leaves versions in both, which are not moved again.
 */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import type { Pieces } from "../../../values/turns.ts";
import { parseLine } from "../../versions/version.ts";
import type { Flushing } from "../commit/flushing.ts";
import type { WrittenVersion } from "../commit/wal-format.ts";
import type { ContentBases } from "./content-line.ts";
import { historyFolder, HistoryFolder, readBounded } from "./history-folder.ts";

/**
 * `queued` has a version at least; `bases`: of the contents in the last segment. A version must not be on the disk without
 * its contents. On a full disk old contents go first; then the new ones are not kept either, but a version is never left
 * out.
 */
export function* moveVersions(own: Directory, queued: readonly WrittenVersion[], bases: ContentBases): Flushing<void> {
  const hasFolder = own.measure(historyFolder) !== null;
  using history = HistoryFolder.make(own);
  const first = queued[0]?.version.seq ?? 1;
  const last = history.segments("versions").at(-1) ?? first;
  const { end, moved, isNew, isOther } = yield* whatIsMoved(history, last, queued);
  if (isOther) history.markLost();
  const segment = history.isFull(last) && isNew ? first : last;
  // Contents can be told from those of versions that are there already.
  if (history.bytesOf("contents", segment) === 0) bases.clear();
  const added = queued.slice(moved);
  let areKept = false;
  try {
    areKept = yield* appendContents(history, segment, yield* contentLines(added, bases));
  } finally {
    // The next content must not be told from one that is not there.
    if (!areKept) bases.clear();
  }
  {
    using versions = history.openSegment("versions", segment, "make");
    const lines: string[] = [];
    for (const { line } of added) lines.push(line);
    if (versions !== null) yield* writeLines(versions, segment === last ? end : 0, lines);
    if (versions !== null) yield { all: [versions] };
  }
  yield { all: [history.folder] };
  if (!hasFolder) yield { all: [own] };
}

interface Moved {
  /** Where in the segment the versions go on that have not been moved. */
  readonly end: number;
  /** How many versions are there already. A crash can have left later lines and not earlier ones. */
  readonly moved: number;
  /** The segment has only versions of before. */
  readonly isNew: boolean;
  /** Two processes have given one number to two versions: one of them is lost. */
  readonly isOther: boolean;
}

/** Reads the last segment from its end on, up to a version of before. */
function* whatIsMoved(history: HistoryFolder, last: number, queued: readonly WrittenVersion[]): Pieces<Moved> {
  using file = history.openSegment("versions", last, "read");
  const bytes = file === null ? Buffer.alloc(0) : readBounded(file, "versions");
  const first = queued[0]?.version.seq ?? 1;
  const found: { readonly line: string; readonly seq: number | null }[] = [];
  let end = bytes.lastIndexOf("\n") + 1;
  while (end > 0) {
    yield;
    const start = bytes.subarray(0, end - 1).lastIndexOf("\n") + 1;
    const line = bytes.toString("utf8", start, end - 1);
    const seq = parseLine(line)?.seq ?? null;
    if (seq !== null && seq < first) break;
    found.push({ line, seq });
    end = start;
  }
  found.reverse();
  const differs = found.findIndex(({ line }, at) => line !== queued[at]?.line);
  const moved = differs < 0 ? found.length : differs;
  for (const { line } of found.slice(0, moved)) end += Buffer.byteLength(line) + 1;
  const isOther = found.some(({ line, seq }) => seq !== null && queued[seq - first]?.line !== line);
  return { end, moved, isNew: found.length === 0, isOther };
}

function* contentLines(versions: readonly WrittenVersion[], bases: ContentBases): Pieces<string[]> {
  const lines: string[] = [];
  let bytes = 0;
  for (const { contents } of versions) {
    for (const each of contents) {
      lines.push(bases.encode(each));
      bytes += each.content.length;
      if (bytes < bytesAtOnce) continue;
      bytes = 0;
      yield;
    }
  }
  return lines;
}

/** Returns whether there is room for them. */
function* appendContents(history: HistoryFolder, segment: number, lines: readonly string[]): Flushing<boolean> {
  using file = history.openSegment("contents", segment, "make");
  if (file === null) return false;
  let isWritten = yield* appendIfRoom(file, lines);
  if (!isWritten) {
    for (const first of history.segments("contents")) if (first !== segment) history.remove("contents", first);
    isWritten = yield* appendIfRoom(file, lines);
  }
  yield { all: [file] };
  return isWritten;
}

function* appendIfRoom(file: DiskFile, lines: readonly string[]): Flushing<boolean> {
  const size = file.size();
  const isWhole = size === 0 || file.read(size - 1, 1).toString("latin1") === "\n";
  try {
    yield* writeLines(file, isWhole ? size : file.read(0, size).lastIndexOf("\n") + 1, lines);
    return true;
  } catch (error) {
    if (isFullDisk(error)) return false;
    throw error;
  }
}

/** So many are encoded, or written, before others get a turn. */
const bytesAtOnce = 1024 * 1024;

/**
 * Writes lines to a segment from some place on, and cuts off first what a crash has left there. Many bytes are written in
 * parts: what a crash leaves of the lines is found by their numbers. What a full disk leaves of them is cut off.
 */
function* writeLines(file: DiskFile, start: number, lines: readonly string[]): Pieces<void> {
  if (start < file.size()) file.truncate(start);
  try {
    let [end, part, chars] = [start, [] as string[], 0];
    for (const [at, line] of lines.entries()) {
      part.push(line);
      chars += line.length;
      if (chars < bytesAtOnce && at < lines.length - 1) continue;
      const bytes = Buffer.from(`${part.join("\n")}\n`);
      file.write(end, bytes);
      [end, part, chars] = [end + bytes.length, [], 0];
      yield;
    }
  } catch (error) {
    file.truncate(start);
    throw error;
  }
}
