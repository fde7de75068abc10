/** Removes what a history need not keep, or must not: what is old or too much, and what its owner wants to be gone. */
import type { Directory } from "../../../disk/directory.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import { replaceFile } from "../../../disk/replace-file.ts";
import { agree } from "../../../values/clock-reading.ts";
import { orInstead } from "../../../values/tool-error.ts";
import { inTurns } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { StoreSettings } from "../../definition.ts";
import { agedBefore, agedContents, isAgingDue } from "../../versions/old-contents.ts";
import { parseLine } from "../../versions/version.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { contentsOfSegment, parseContent } from "./content-line.ts";
import type { ContentLine } from "./content-line.ts";
import { HistoryFolder, contentsName } from "./history-folder.ts";
import { versionsIn, writePresent } from "./known-history.ts";
import type { CheckedHistory } from "./known-history.ts";

/** After so many versions, at least, the present files' origins are written anew. */
const unwrittenMax = 512;

/** How many bytes all versions of a home take. A call with two files takes 0.6 KB. */
const versionBytesMax = 16 * 1024 * 1024;

/** Removes what a history need not keep, after versions have been moved to it: no version waits in the WAL. */
export async function tidyHistory(
  { own, folders }: { readonly own: Directory; readonly folders: ScopeFolders },
  known: CheckedHistory,
  settings: StoreSettings,
): Promise<void> {
  using history = HistoryFolder.make(own);
  const { origins } = known;
  const isFull = history.isFull(history.segments("versions").at(-1) ?? 0);
  // The next content must not be told from one that is gone.
  if (await pruneByAge(history, known, settings, (scope, path) => isFileIn(folders, scope, path))) known.bases.clear();
  dropOldest(history, "contents", settings.history.bytesMax);
  if (!isFull && known.unwritten < Math.max(unwrittenMax, origins.size / 2)) return;
  // It says where the files come from that dropped versions have left.
  await writePresent(history, origins);
  await history.folder.flush();
  known.unwritten = 0;
  dropOldest(history, "versions", versionBytesMax);
}

/** `true` also of what cannot be looked at. */
const isFileIn = (folders: ScopeFolders, scope: string, path: string): boolean =>
  orInstead(() => {
    const place = folders.find(scope, path);
    return place !== null && place.folder.measure(place.name) !== null;
  }, true);

/** Removes the oldest segments that are too much, never the last one. Versions go with their contents. */
function dropOldest(history: HistoryFolder, kind: "versions" | "contents", bytesMax: number): void {
  const segments = history.segments(kind);
  let left = segments.reduce((sum, first) => sum + history.bytesOf(kind, first), 0);
  for (const first of segments.slice(0, -1)) {
    if (left <= bytesMax) return;
    left -= history.bytesOf(kind, first);
    history.remove("contents", first);
    if (kind === "versions") history.remove("versions", first);
  }
}

/**
 * Removes the contents that no file has had for too many days, of all segments: by the time of the last look, on which
 * this one agrees. Returns whether there were any. Durable once the folder is flushed.
 */
async function pruneByAge(
  history: HistoryFolder,
  { origins }: CheckedHistory,
  { history: { daysMax }, clock }: StoreSettings,
  isThere: (scope: string, path: string) => boolean,
): Promise<boolean> {
  const [last, now] = [history.aged, clock()];
  if (!isAgingDue(last?.atMs ?? 0, now)) return false;
  const { agreedMs, noted } = agree(last, now);
  const bound = { daysMax, nowMs: agreedMs };
  const isYoung = oldestMs(history) >= agedBefore(bound);
  const versions = isYoung ? [] : await inTurns(versionsIn({ history, queued: [] }));
  const aged = agedContents(versions, origins, { ...bound, isThere });
  if (aged.size > 0) await forgetContents(history, aged);
  if (noted !== last) history.noteAged(noted);
  return aged.size > 0;
}

/** When the oldest version was made; 0 if that cannot be told. */
function oldestMs(history: HistoryFolder): number {
  const [first = 0] = history.segments("versions");
  return parseLine(history.lines("versions", first)[0] ?? "")?.atMs ?? 0;
}

/** Removes contents for good. Durable once the folder is flushed. Where there is no room to write a segment again, all of it goes. */
export async function forgetContents(history: HistoryFolder, hashes: ReadonlySet<string>): Promise<void> {
  for (const first of history.segments("contents")) {
    const left = await inTurns(linesWithout(history, first, hashes));
    if (left !== null) await replaceSegment(history, first, left);
  }
}

/** `null` if nothing has to go. Of a content that is told from one that goes, all of it is in its line then. */
function* linesWithout(history: HistoryFolder, first: number, hashes: ReadonlySet<string>): Pieces<string[] | null> {
  const lines = yield* history.readLines("contents", first);
  const parsed: (ContentLine | null)[] = [];
  for (const line of lines) {
    yield;
    parsed.push(parseContent(line));
  }
  if (!parsed.some((line) => line !== null && hashes.has(line.sha256))) return null;
  const isTold = ({ like }: ContentLine): boolean => like !== undefined && hashes.has(like.sha256);
  const told = new Set(parsed.flatMap((line) => (line !== null && isTold(line) ? line.sha256 : [])));
  const wholes = new Map<string, string>();
  for (const each of contentsOfSegment(lines, (sha256) => told.has(sha256))) {
    yield;
    if (!each) continue;
    const { sha256, content } = each;
    wholes.set(sha256, JSON.stringify({ sha256, base64: content.toString("base64") }));
  }
  return parsed.flatMap((line, at) => {
    if (line === null || hashes.has(line.sha256)) return [];
    return (isTold(line) ? wholes.get(line.sha256) : lines[at]) ?? [];
  });
}

async function replaceSegment(history: HistoryFolder, first: number, lines: readonly string[]): Promise<void> {
  const shown = contentsName(first);
  if (lines.length === 0) return history.remove("contents", first);
  try {
    const content = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    await replaceFile(history.folder, shown, { content, shown, staged: "contents-staged" });
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    history.remove("contents", first);
  }
}
