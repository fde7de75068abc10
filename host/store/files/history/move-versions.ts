/**
 * Moves versions from the WAL to the history. Called when the WAL is retired, before its records are dropped: a crash
 * in between leaves versions in both, which are not moved again.
 */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { parseLine } from "../../versions/version-line.ts";
import { appendLines, historyFolder, HistoryFolder } from "./history-folder.ts";
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
  const first = queued[0]?.versions[0]?.version.seq ?? 1;
  const last = history.segments("versions").at(-1) ?? null;
  const stored = last === null ? [] : history.lines("versions", last);
  const done = parseLine(stored.at(-1) ?? "")?.seq ?? 0;
  const all = queued.flatMap(({ versions }) => versions);
  // Two processes have given one number to two versions: one of them is lost.
  const isTaken = all.some(({ version, line }) => version.seq === done && stored.at(-1) !== line);
  if (isTaken) history.markLost();
  // Contents can be told from those of versions that are there already.
  const segment = last === null || (isNew && done < first) ? first : last;
  const left = queued.filter(({ versions }) => versions.some(({ version }) => version.seq > done));
  const hasContents = yield* withRoom(
    history,
    segment,
    left.flatMap((each) => each.contents),
  );
  const lines = all.filter(({ version }) => version.seq > done).map(({ line }) => line);
  {
    using versions = history.openSegment("versions", segment, "make");
    if (versions !== null) {
      appendLines(versions, lines);
      yield versions;
    }
  }
  yield history.folder;
  if (!hasFolder) yield own;
  return { isFull: isFullSegment(history, segment), hasContents };
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
      if (error instanceof ToolError && error.code === "STORAGE_FULL") return false;
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
