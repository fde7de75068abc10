/**
 * Moves versions from the WAL to the history. Called when the WAL is retired, before its records are dropped: a crash
 * in between leaves versions in both, which are not moved again.
 */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { parseLine } from "../../versions/version-line.ts";
import { appendLines, HistoryFolder } from "./history-folder.ts";
import { isFullSegment } from "./load-history.ts";
import type { QueuedVersions } from "./queued-versions.ts";

/** What was appended and must be flushed. */
interface Appended extends Disposable {
  readonly isFull: boolean;
  readonly files: readonly DiskFile[];
  readonly history: HistoryFolder;
}

/** `isNew`: begins another segment. Returns whether the segment is full now, so that the next versions begin another. */
export async function moveVersions(
  own: Directory,
  queued: readonly QueuedVersions[],
  isNew: boolean,
): Promise<boolean> {
  using appended = append(own, queued, isNew);
  for (const file of appended.files) await file.flush();
  await appended.history.folder.flush();
  return appended.isFull;
}

/** The same, at the end of the process. */
export function moveVersionsNow(own: Directory, queued: readonly QueuedVersions[], isNew: boolean): void {
  using appended = append(own, queued, isNew);
  for (const file of appended.files) file.flushNow();
  appended.history.folder.flushNow();
}

function append(own: Directory, queued: readonly QueuedVersions[], isNew: boolean): Appended {
  const history = HistoryFolder.make(own);
  const files: DiskFile[] = [];
  const dispose = (): void => {
    for (const each of [...files, history]) each[Symbol.dispose]();
  };
  try {
    const first = queued[0]?.versions[0]?.version.seq ?? 1;
    const last = history.segments("versions").at(-1) ?? null;
    const done = last === null ? 0 : lastSeq(history, last);
    // Contents can be told from those of versions that are there already.
    const segment = last === null || (isNew && done < first) ? first : last;
    const left = queued.filter(({ versions }) => versions.some(({ version }) => version.seq > done));
    const add = (kind: "versions" | "contents", lines: readonly string[]): void => {
      const file = history.openSegment(kind, segment, "make");
      if (file === null) return;
      files.push(file);
      appendLines(file, lines);
    };
    const contents = left.flatMap((each) => each.contents);
    withRoom(history, segment, () => add("contents", contents));
    const lines = left.flatMap(({ versions }) => versions.filter(({ version }) => version.seq > done));
    add(
      "versions",
      lines.map(({ line }) => line),
    );
    const isFull = isFullSegment(history, segment);
    return { files, history, isFull, [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

/** On a full disk, old contents go first; then the new ones are not kept either. A version is never left out. */
function withRoom(history: HistoryFolder, present: number, write: () => void): void {
  try {
    return write();
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    for (const first of history.segments("contents")) if (first !== present) history.remove("contents", first);
  }
  try {
    return write();
  } catch (error) {
    if (!isFullDisk(error)) throw error;
  }
}

const isFullDisk = (error: unknown): boolean => error instanceof ToolError && error.code === "STORAGE_FULL";

/** The number of a segment's last version; 0 if it has none. */
function lastSeq(history: HistoryFolder, first: number): number {
  return parseLine(history.lines("versions", first).at(-1) ?? "")?.seq ?? 0;
}
