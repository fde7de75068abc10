/**
 * The ids of a run's appends, so that a repeated append stores nothing. They are spread over files by linear hashing:
 * when the files hold 400 ids on average, one file is split into two. So an append reads and writes one file of them,
 * however many there are.
 */
import { quoted } from "../../shared/text.ts";
import { fileOf, splitFor } from "../linear-hashing.ts";
import { ToolError } from "../tool-error.ts";
import { parseJson } from "./json-text.ts";
import { isObject } from "./run-event.ts";
import { appendIdsPath, linesOf, readFile, runs, unreadable, wholeLines } from "./run-files.ts";
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
  const text = readIds(appendIdsPath(folder, fileOf(appendId, appendIdFiles)));
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
  const appendIds = counts.appendIds + 1;
  const isFull = appendIds > counts.appendIdFiles * runLimits.appendIdsPerFile;
  const appendIdFiles = isFull ? splitFile(folder, counts.appendIdFiles) : counts.appendIdFiles;
  const path = appendIdsPath(folder, fileOf(appendId, appendIdFiles));
  runs.write(path, `${wholeLines(readIds(path))}${beginning(appendId)}${appended}}\n`);
  return { appendIds, appendIdFiles };
}

/** Throws if the file is no text: an append that is repeated could not be told from a new one. */
function readIds(path: string): string {
  const text = readFile(path);
  if (text !== unreadable) return text ?? "";
  const message = `Cannot append: the append ids in ${quoted(path)} are not UTF-8 text; the doctor can move them to the trash`;
  throw new ToolError("ENTRY_UNREADABLE", message);
}

const beginning = (appendId: string): string => `{"appendId":${JSON.stringify(appendId)},"appended":`;

/** Adds one file, and moves to it the ids of an earlier one that now belong there. */
function splitFile(folder: string, files: number): number {
  const added = files + 1;
  if (files === 0) return added;
  const path = appendIdsPath(folder, splitFor(added));
  const kept: string[] = [];
  const moved: string[] = [];
  for (const line of linesOf(readIds(path))) {
    const value = parseJson(line);
    const isMoved = isObject(value) && fileOf(String(value["appendId"]), added) === added;
    (isMoved ? moved : kept).push(`${line}\n`);
  }
  runs.write(path, kept.join(""));
  runs.write(appendIdsPath(folder, added), moved.join(""));
  return added;
}
