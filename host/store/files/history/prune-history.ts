import { agree } from "../../../values/clock-reading.ts";
import type { HistoryLimits } from "../../../values/history-limits.ts";
import { inTurns } from "../../../values/turns.ts";
import { agedBefore, agedContents, isAgingDue } from "../../versions/aged-contents.ts";
import type { PresentOrigins } from "../../versions/present-origins.ts";
import { parseLine } from "../../versions/version-line.ts";
import { forgetContents } from "./forget-contents.ts";
import type { HistoryFolder } from "./history-folder.ts";
import { versionsIn } from "./read-history.ts";

/** Removes the oldest contents that are too many, a segment at a time; never those of the last segment. */
export function pruneToBytes(history: HistoryFolder, { bytesMax }: Pick<HistoryLimits, "bytesMax">): void {
  const segments = history.segments("contents");
  let left = segments.reduce((sum, first) => sum + history.bytesOf("contents", first), 0);
  for (const first of segments.slice(0, -1)) {
    if (left <= bytesMax) return;
    left -= history.bytesOf("contents", first);
    history.remove("contents", first);
  }
}

export interface Aging extends Pick<HistoryLimits, "daysMax"> {
  readonly nowMs: number;
  readonly origins: PresentOrigins;
  readonly isThere: (scope: string, path: string) => boolean;
}

/**
 * Removes the contents that no file has had for too many days, of all segments: by the time of the last look, on which
 * this one agrees. No version may wait in the WAL. Returns whether there were any. Durable once the folder is flushed.
 */
export async function pruneByAge(history: HistoryFolder, { origins, ...bound }: Aging): Promise<boolean> {
  const last = history.aged;
  if (!isAgingDue(last?.atMs ?? 0, bound.nowMs)) return false;
  const { agreedMs, noted } = agree(last, bound.nowMs);
  const agreed = { ...bound, nowMs: agreedMs };
  const isYoung = oldestMs(history) >= agedBefore(agreed);
  const aged = isYoung ? noHashes : agedContents(await inTurns(versionsIn({ history, queued: [] })), origins, agreed);
  if (aged.size > 0) await forgetContents(history, aged);
  if (noted !== last) history.noteAged(noted);
  return aged.size > 0;
}

const noHashes: ReadonlySet<string> = new Set();

/** When the oldest version was made; 0 if that cannot be told. */
function oldestMs(history: HistoryFolder): number {
  const [first = 0] = history.segments("versions");
  return parseLine(history.lines("versions", first)[0] ?? "")?.atMs ?? 0;
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
