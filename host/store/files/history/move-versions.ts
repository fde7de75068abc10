/**
 * Moves versions from the WAL to the history. Called when the WAL is retired, before its records are dropped: a crash
 * in between leaves versions in both, which are not moved again.
 */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import type { Pieces } from "../../../values/turns.ts";
import { parseLine } from "../../versions/version.ts";
import type { Flushing } from "../commit/flushing.ts";
import type { ContentBases, QueuedVersion } from "./content-line.ts";
import { bytesAtOnce, historyFolder, HistoryFolder } from "./history-folder.ts";

/**
 * `queued` has a version at least; `bases`: of their contents. A version must not be on the disk without its contents. On a
 * full disk old contents go first; then the new ones are not kept either, but a version is never left out.
 */
export function* moveVersions(own: Directory, queued: readonly QueuedVersion[], bases: ContentBases): Flushing<void> {
  const hasFolder = own.measure(historyFolder) !== null;
  using history = HistoryFolder.make(own);
  const first = queued[0]?.seq ?? 1;
  const last = history.segments("versions").at(-1) ?? null;
  const stored = last === null || endsBefore(history, last, first) ? [] : yield* history.readLines("versions", last);
  const { kept, moved, isOther } = compare(stored, queued, first);
  if (isOther) history.markLost();
  // Contents can be told from those of versions that are there already.
  const segment = last === null || (history.isFull(last) && kept === stored.length) ? first : last;
  const [lines, contents]: [string[], string[]] = [[], []];
  for (const each of queued.slice(moved)) {
    lines.push(each.line);
    for (const line of each.contents) contents.push(line);
  }
  const hasContents = yield* appendContents(history, segment, contents);
  {
    using versions = history.openSegment("versions", segment, "make");
    if (versions !== null) {
      if (segment === last && kept + moved < stored.length) cutAfter(versions, kept + moved);
      yield* appendLines(versions, lines);
      yield { all: [versions] };
    }
  }
  yield { all: [history.folder] };
  if (!hasFolder) yield { all: [own] };
  // The next content must not be told from one that is not kept, or is in another segment.
  if (!hasContents || history.isFull(segment)) bases.clear();
}

const tailBytes = 64 * 1024;

/** Whether the last line of a segment is that of a version before. Then nothing in it has to be compared. */
function endsBefore(history: HistoryFolder, last: number, first: number): boolean {
  using file = history.openSegment("versions", last, "read");
  const bytes = file?.read(Math.max(0, file.size() - tailBytes), tailBytes);
  const line = bytes?.toString("utf8").split("\n").at(-2) ?? "";
  return (parseLine(line)?.seq ?? first) < first;
}

interface Stored {
  /** How many lines of the segment are of before. */
  readonly kept: number;
  /** How many versions stand after them already. A crash can have left later lines and not earlier ones. */
  readonly moved: number;
  /** Two processes have given one number to two versions: one of them is lost. */
  readonly isOther: boolean;
}

/** `first`: the number of the first of all. */
function compare(stored: readonly string[], all: readonly QueuedVersion[], first: number): Stored {
  const kept = stored.findLastIndex((line) => (parseLine(line)?.seq ?? first) < first) + 1;
  const rest = stored.slice(kept);
  const differs = rest.findIndex((line, at) => line !== all[at]?.line);
  const isOther = rest.some((line) => {
    const seq = parseLine(line)?.seq;
    return seq !== undefined && all[seq - first]?.line !== line;
  });
  return { kept, moved: differs < 0 ? rest.length : differs, isOther };
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
  try {
    yield* appendLines(file, lines);
    return true;
  } catch (error) {
    if (isFullDisk(error)) return false;
    throw error;
  }
}

/**
 * Appends lines to a segment. Cuts off first what a crash has left of a line. Many bytes are written in parts: what a crash
 * leaves of the lines is found by their numbers. What a full disk leaves of them is cut off.
 */
function* appendLines(file: DiskFile, lines: readonly string[]): Pieces<void> {
  const size = file.size();
  if (size > 0 && file.read(size - 1, 1).toString("latin1") !== "\n") {
    file.truncate(file.read(0, size).lastIndexOf("\n") + 1);
  }
  const start = file.size();
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

/** Cuts off what stands after so many lines. */
function cutAfter(file: DiskFile, lines: number): void {
  const bytes = file.read(0, file.size());
  let end = 0;
  for (let left = lines; left > 0; left--) end = bytes.indexOf("\n", end) + 1;
  if (end < bytes.length) file.truncate(end);
}
