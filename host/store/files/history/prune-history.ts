/** Removes what a history need not keep, or must not: what is old or too much, and what its owner wants to be gone. */
import { createOverLeftover } from "../../../disk/create-over-leftover.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import { agree } from "../../../values/clock-reading.ts";
import type { HistoryLimits } from "../../../values/history-limits.ts";
import { giveTurn, inTurns } from "../../../values/turns.ts";
import { agedBefore, agedContents, isAgingDue } from "../../versions/aged-contents.ts";
import type { PresentOrigins } from "../../versions/present-origins.ts";
import { parseLine } from "../../versions/version-line.ts";
import { contentIn, parseContent } from "./content-line.ts";
import type { ContentLine } from "./content-line.ts";
import { contentsName } from "./history-folder.ts";
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

/** Removes contents for good. Durable once the folder is flushed. Where there is no room to write a segment again, all of it goes. */
export async function forgetContents(history: HistoryFolder, hashes: ReadonlySet<string>): Promise<void> {
  for (const first of history.segments("contents")) {
    const lines = await inTurns(history.readLines("contents", first));
    const parsed: (ContentLine | null)[] = [];
    for (const line of lines) {
      await giveTurn();
      parsed.push(parseContent(line));
    }
    if (!parsed.some((line) => line !== null && hashes.has(line.sha256))) continue;
    const left: string[] = [];
    for (const [at, line] of parsed.entries()) {
      await giveTurn();
      if (line !== null && !hashes.has(line.sha256)) left.push(...lineAt(lines, line, at));
    }
    await replaceSegment(history, first, left);
  }

  /** Of a content that is told from one that goes, all of it. */
  function lineAt(lines: readonly string[], line: ContentLine, at: number): string[] {
    if (line.like === undefined || !hashes.has(line.like.sha256)) return [lines[at] ?? ""];
    const content = contentIn(lines, line.sha256, at + 1);
    return content === null ? [] : [JSON.stringify({ sha256: line.sha256, base64: content.toString("base64") })];
  }
}

const staged = "contents-staged";

async function replaceSegment(history: HistoryFolder, first: number, lines: readonly string[]): Promise<void> {
  const name = contentsName(first);
  if (lines.length === 0) return history.remove("contents", first);
  try {
    const content = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    createOverLeftover(history.folder, staged, { content, shown: name });
    // A power cut must not leave the name with half of it.
    using file = history.folder.openFile(staged, name, "flush");
    await file?.flush();
    history.folder.rename(staged, history.folder, name);
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    history.remove("contents", first);
  }
}
