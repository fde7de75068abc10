import type { Directory, DiskFile } from "../../../disk/directory.ts";
/**
 * Moves versions from the WAL to the history. Called when the WAL is retired, before its records are dropped: a crash
 * in between leaves versions in both, which are not moved again.
 */
import { isFullDisk } from "../../../disk/disk-failure.ts";
import type { PlannedVersion } from "../../versions/plan-versions.ts";
import { parseLine } from "../../versions/version-line.ts";
import { appendLines, cutAfter, historyFolder, HistoryFolder } from "./history-folder.ts";
import { isFullSegment } from "./load-history.ts";
import type { QueuedVersions } from "./queued-versions.ts";

export interface MovedVersions {
  /** Whether the segment is full, so that the next versions begin another. */
  readonly isFull: boolean;
  /** Whether the contents are kept too. On a full disk they are not. */
  readonly hasContents: boolean;
}

type Flush = (file: Pick<DiskFile, "flush" | "flushNow">) => Promise<void> | void;

/** `isNew`: begins another segment. */
export async function moveVersions(
  own: Directory,
  queued: readonly QueuedVersions[],
  isNew: boolean,
): Promise<MovedVersions> {
  const steps = append(own, queued, isNew);
  try {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await step.value.flush();
    }
  } finally {
    // Closes the files if a flush has failed.
    steps.return({ isFull: false, hasContents: false });
  }
}

/** The same, at the end of the process. */
export function moveVersionsNow(own: Directory, queued: readonly QueuedVersions[], isNew: boolean): void {
  for (const file of append(own, queued, isNew)) file.flushNow();
}

/** Yields what is to be flushed before it goes on: a version must not be on the disk without its contents. */
function* append(
  own: Directory,
  queued: readonly QueuedVersions[],
  isNew: boolean,
): Generator<Parameters<Flush>[0], MovedVersions> {
  const hasFolder = own.measure(historyFolder) !== null;
  using history = HistoryFolder.make(own);
  const all = queued.flatMap(({ versions }) => versions);
  const first = all[0]?.version.seq ?? 1;
  const last = history.segments("versions").at(-1) ?? null;
  const stored = last === null ? [] : history.lines("versions", last);
  const { kept, moved, isOther } = compare(stored, all);
  if (isOther) history.markLost();
  // Contents can be told from those of versions that are there already.
  const segment = last === null || (isNew && kept === stored.length) ? first : last;
  const left = queued.filter(({ versions }) => versions.some(({ version }) => version.seq >= first + moved));
  const hasContents = yield* withRoom(
    history,
    segment,
    left.flatMap((each) => each.contents),
  );
  const lines = all.slice(moved).map(({ line }) => line);
  {
    using versions = history.openSegment("versions", segment, "make");
    if (versions !== null) {
      if (segment === last) cutAfter(versions, kept + moved);
      appendLines(versions, lines);
      yield versions;
    }
  }
  yield history.folder;
  if (!hasFolder) yield own;
  return { isFull: isFullSegment(history, segment), hasContents };
}

interface Stored {
  /** How many lines of the segment are of before. */
  readonly kept: number;
  /** How many versions stand after them already. A crash can have left later lines and not earlier ones. */
  readonly moved: number;
  /** Two processes have given one number to two versions: one of them is lost. */
  readonly isOther: boolean;
}

function compare(stored: readonly string[], all: readonly PlannedVersion[]): Stored {
  const first = all[0]?.version.seq ?? 1;
  const kept = stored.findLastIndex((line) => (parseLine(line)?.seq ?? first) < first) + 1;
  const rest = stored.slice(kept);
  const differs = rest.findIndex((line, at) => line !== all[at]?.line);
  const isOther = rest.some((line) => {
    const seq = parseLine(line)?.seq;
    return seq !== undefined && all[seq - first]?.line !== line;
  });
  return { kept, moved: differs < 0 ? rest.length : differs, isOther };
}

/** On a full disk, old contents go first; then the new ones are not kept either. A version is never left out. */
function* withRoom(
  history: HistoryFolder,
  segment: number,
  lines: readonly string[],
): Generator<Parameters<Flush>[0], boolean> {
  using file = history.openSegment("contents", segment, "make");
  if (file === null) return false;
  const write = (): boolean => {
    try {
      appendLines(file, lines);
      return true;
    } catch (error) {
      if (isFullDisk(error)) return false;
      throw error;
    }
  };
  let isWritten = write();
  if (!isWritten) {
    for (const first of history.segments("contents")) if (first !== segment) history.remove("contents", first);
    isWritten = write();
  }
  yield file;
  return isWritten;
}
