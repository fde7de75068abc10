import { parseLine } from "../../versions/version-line.ts";
import type { HistoryFolder } from "./history-folder.ts";

/** For how long the contents of versions are kept. */
export interface HistoryLimits {
  readonly days: number;
  /** Of one home, on the disk. */
  readonly bytes: number;
}

export const historyDefaults: HistoryLimits = { days: 90, bytes: 32 * 1024 * 1024 };

const dayMs = 24 * 3_600_000;

/** Removes the contents of old versions, a segment at a time; never those of the last segment. */
export function pruneContents(history: HistoryFolder, { days, bytes }: HistoryLimits, nowMs: number): void {
  const segments = history.segments("contents");
  if (segments.length < 2) return;
  let left = segments.reduce((sum, first) => sum + history.bytesOf("contents", first), 0);
  for (const first of segments.slice(0, -1)) {
    if (left <= bytes && !isOld(history, first, nowMs - days * dayMs)) break;
    left -= history.bytesOf("contents", first);
    history.remove("contents", first);
  }
}

/** How many bytes all versions of a home take. A call with two files takes 0.6 KB. */
const versionBytesMax = 16 * 1024 * 1024;

/** Drops old versions, a segment at a time. `present.json` must say where the files come from that they have left. */
export function pruneVersions(history: HistoryFolder): void {
  const segments = history.segments("versions");
  let left = segments.reduce((sum, first) => sum + history.bytesOf("versions", first), 0);
  for (const first of segments.slice(0, -1)) {
    if (left <= versionBytesMax) return;
    left -= history.bytesOf("versions", first);
    history.remove("contents", first);
    history.remove("versions", first);
  }
}

/** Whether all versions of a segment are from before some time. */
function isOld(history: HistoryFolder, first: number, beforeMs: number): boolean {
  const last = parseLine(history.lines("versions", first).at(-1) ?? "");
  return last !== null && last.atMs < beforeMs;
}
