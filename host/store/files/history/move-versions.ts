/**
 * Moves versions from the WAL to the history. Called when the WAL is retired, before its records are dropped: a crash
 * in between leaves versions in both, which are not moved again.
 */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import { giveTurn } from "../../../values/turns.ts";
import { parseLine } from "../../versions/version-line.ts";
import { appendLines, cutAfter, historyFolder, HistoryFolder } from "./history-folder.ts";
import type { SegmentEnd } from "./load-history.ts";
import { isFullSegment } from "./load-history.ts";
import type { QueuedVersions } from "./queued-versions.ts";

export interface MovedVersions {
  readonly end: SegmentEnd;
  /** Whether the segment is full, so that the next versions begin another. */
  readonly isFull: boolean;
  /** Whether the contents are kept too. On a full disk they are not. */
  readonly hasContents: boolean;
}

type Step = Pick<DiskFile, "flush" | "flushNow"> | null;

export interface MovePlace {
  /** Whether another segment begins. */
  readonly isNew: boolean;
  /** `null` if that is not known. */
  readonly end: SegmentEnd | null;
}

/** `queued` has a version at least. */
export async function moveVersions(
  own: Directory,
  queued: readonly QueuedVersions[],
  place: MovePlace,
): Promise<MovedVersions> {
  const steps = append(own, queued, place);
  try {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await (step.value === null ? giveTurn() : step.value.flush());
    }
  } finally {
    // Closes the files if a flush has failed.
    steps.return(unmoved);
  }
}

/** Of what has failed. Nobody sees it. */
const unmoved: MovedVersions = { end: { first: 0, bytes: 0, next: 0 }, isFull: false, hasContents: false };

/** The same, at the end of the process. */
export function moveVersionsNow(own: Directory, queued: readonly QueuedVersions[]): void {
  for (const file of append(own, queued, { isNew: false, end: null })) file?.flushNow();
}

/**
 * Yields what is to be flushed before it goes on: a version must not be on the disk without its contents. Yields `null`
 * where others can have a turn.
 */
function* append(
  own: Directory,
  queued: readonly QueuedVersions[],
  { isNew, end }: MovePlace,
): Generator<Step, MovedVersions> {
  const hasFolder = own.measure(historyFolder) !== null;
  using history = HistoryFolder.make(own);
  const all = queued.flatMap(({ lines }) => lines);
  const first = queued[0]?.first ?? 1;
  const last = history.segments("versions").at(-1) ?? null;
  const isAsLeft = last !== null && end !== null && isStill(history, end, { last, first });
  const stored = last === null || isAsLeft ? [] : history.lines("versions", last);
  const { kept, moved, isOther } = compare(stored, all, first);
  if (isOther) history.markLost();
  // Contents can be told from those of versions that are there already.
  const segment = last === null || (isNew && kept === stored.length) ? first : last;
  const left = queued.filter((each) => each.first + each.lines.length > first + moved);
  const hasContents = yield* withRoom(
    history,
    segment,
    left.flatMap((each) => each.contents),
  );
  {
    using versions = history.openSegment("versions", segment, "make");
    if (versions !== null) {
      if (segment === last && !isAsLeft) cutAfter(versions, kept + moved);
      yield* appendLines(versions, all.slice(moved));
      yield versions;
    }
  }
  yield history.folder;
  if (!hasFolder) yield own;
  const bytes = history.bytesOf("versions", segment);
  return {
    end: { first: segment, bytes, next: first + all.length },
    isFull: isFullSegment(history, segment),
    hasContents,
  };
}

/** Whether the last segment is as this process has left it, and the next version is the one after it. */
const isStill = (
  history: HistoryFolder,
  end: SegmentEnd,
  { last, first }: { readonly last: number; readonly first: number },
): boolean => end.first === last && end.next === first && end.bytes === history.bytesOf("versions", last);

interface Stored {
  /** How many lines of the segment are of before. */
  readonly kept: number;
  /** How many versions stand after them already. A crash can have left later lines and not earlier ones. */
  readonly moved: number;
  /** Two processes have given one number to two versions: one of them is lost. */
  readonly isOther: boolean;
}

/** `first`: the number of the first of all. */
function compare(stored: readonly string[], all: readonly string[], first: number): Stored {
  const kept = stored.findLastIndex((line) => (parseLine(line)?.seq ?? first) < first) + 1;
  const rest = stored.slice(kept);
  const differs = rest.findIndex((line, at) => line !== all[at]);
  const isOther = rest.some((line) => {
    const seq = parseLine(line)?.seq;
    return seq !== undefined && all[seq - first] !== line;
  });
  return { kept, moved: differs < 0 ? rest.length : differs, isOther };
}

/** On a full disk, old contents go first; then the new ones are not kept either. A version is never left out. */
function* withRoom(history: HistoryFolder, segment: number, lines: readonly string[]): Generator<Step, boolean> {
  using file = history.openSegment("contents", segment, "make");
  if (file === null) return false;
  function* write(to: DiskFile): Generator<Step, boolean> {
    try {
      yield* appendLines(to, lines);
      return true;
    } catch (error) {
      if (isFullDisk(error)) return false;
      throw error;
    }
  }
  let isWritten = yield* write(file);
  if (!isWritten) {
    for (const first of history.segments("contents")) if (first !== segment) history.remove("contents", first);
    isWritten = yield* write(file);
  }
  yield file;
  return isWritten;
}
