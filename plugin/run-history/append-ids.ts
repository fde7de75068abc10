/**
 * The ids of a run's appends, so that a repeated append stores nothing. They are spread over files by linear hashing:
 * when the files hold 400 ids on average, one file is split into two. So an append reads and writes one file of them,
 * however many there are.
 */
import { quoted } from "../../shared/text.ts";
import { isObject } from "../kit/check-value.ts";
import { withLineFeeds } from "../kit/file-text.ts";
import { fileOf, splitFor } from "../kit/linear-hashing.ts";
import { ToolError } from "../kit/tool-error.ts";
import { parseJson } from "./json-text.ts";
import { appendIdsPath, linesOf, linesText, noTextLine, readLines, runs, unreadable, wholeLines } from "./run-files.ts";
import { runLimits } from "./run-limits.ts";

/** How many ids there are, and in how many files. */
export interface AppendIdCounts {
  readonly appendIds: number;
  readonly appendIdFiles: number;
}

/** The number of events that an earlier append with this id stored, or `null` if there was none. */
export function findAppend(folder: string, { appendIdFiles }: AppendIdCounts, appendId: string): number | null {
  if (appendIdFiles === 0) return null;
  const start = beginning(appendId);
  const { text } = readIds(appendIdsPath(folder, fileOf(appendId, appendIdFiles)));
  // Inside a JSON string, its quotes are escaped. So it is only where a line begins.
  const at = text.indexOf(start);
  if (at === -1) return null;
  const value = parseJson(text.slice(at).split("\n", 1)[0] ?? "");
  return isObject(value) && Number.isSafeInteger(value["appended"]) ? Number(value["appended"]) : null;
}

export function addAppend(
  folder: string,
  counts: AppendIdCounts,
  { appendId, appended }: { readonly appendId: string; readonly appended: number },
): AppendIdCounts {
  const isFull = counts.appendIds >= counts.appendIdFiles * runLimits.appendIdsPerFile;
  const split = isFull ? splitFile(folder, counts.appendIdFiles) : { appendIdFiles: counts.appendIdFiles, lost: 0 };
  const path = appendIdsPath(folder, fileOf(appendId, split.appendIdFiles));
  const { text, lost } = takeIds(path);
  runs.write(path, `${wholeLines(text)}${beginning(appendId)}${appended}}\n`);
  return { appendIds: counts.appendIds + 1 - split.lost - lost, appendIdFiles: split.appendIdFiles };
}

/** The lines of a file that can be read, and how many cannot: appends with their ids are stored again. */
interface ReadIds {
  readonly text: string;
  readonly lost: number;
}

/** Throws if nothing can be read: an append that is repeated could not be told from a new one. */
function readIds(path: string): ReadIds & { readonly isText: boolean } {
  const { text, readable } = readLines(path);
  if (text !== unreadable) return { text: withLineFeeds(text ?? ""), lost: 0, isText: true };
  if (readable === null) {
    const message = `Cannot append: the append ids in ${quoted(path)} cannot be read; the doctor can move them to the trash`;
    throw new ToolError("ENTRY_UNREADABLE", message);
  }
  const lines = linesOf(readable);
  const kept = lines.filter((line) => line !== noTextLine);
  return { text: linesText(kept), lost: lines.length - kept.length, isText: false };
}

/** The same of a file that is about to be written again: if it is not UTF-8 text, it goes to the trash. */
function takeIds(path: string): ReadIds {
  const ids = readIds(path);
  if (!ids.isText) runs.trash(path);
  return ids;
}

const beginning = (appendId: string): string => `{"appendId":${JSON.stringify(appendId)},"appended":`;

/** Adds one file, and moves to it the ids of an earlier one that now belong there. */
function splitFile(folder: string, files: number): { readonly appendIdFiles: number; readonly lost: number } {
  const added = files + 1;
  if (files === 0) return { appendIdFiles: added, lost: 0 };
  const path = appendIdsPath(folder, splitFor(added));
  const kept: string[] = [];
  const moved: string[] = [];
  const { text, lost } = takeIds(path);
  for (const line of linesOf(text)) {
    const value = parseJson(line);
    const isMoved = isObject(value) && fileOf(String(value["appendId"]), added) === added;
    (isMoved ? moved : kept).push(line);
  }
  runs.write(path, linesText(kept));
  runs.write(appendIdsPath(folder, added), linesText(moved));
  return { appendIdFiles: added, lost };
}
