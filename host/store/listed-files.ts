/** What is told of a scope's files, from a list of all of them, in stores that keep no files on a disk. */
import type { ListedFile } from "../../shared/abi.ts";
import { storeLimits } from "../../shared/limits.ts";
import { isListed, trashFolder } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";
import type { ScopeSurvey, UnfitFile } from "./holding.ts";
import { sortedByPath, tooManyFiles } from "./reading.ts";

/** Those whose path begins with `prefix`. Throws `QUOTA_EXCEEDED` if they are more than `filesMax`. */
export function listedIn(
  all: readonly ListedFile[],
  prefix: string,
  filesMax: number = storeLimits.listEntriesMax,
): ListedFile[] {
  const found = all.filter(({ path, bytes }) => isListed(path, prefix) && refusalOf(bytes) === null);
  if (found.length <= filesMax) return sortedByPath(found);
  throw tooManyFiles();
}

export const trashIn = (all: readonly ListedFile[]): ListedFile[] =>
  sortedByPath(all.filter(({ path }) => isListed(path, `${trashFolder}/`)));

export function surveyOf(all: readonly ListedFile[]): ScopeSurvey {
  const sorted = sortedByPath(all);
  const unfit = sorted.flatMap(({ path, bytes }): UnfitFile[] => {
    const reason = refusalOf(bytes);
    return reason === null ? [] : [{ path, reason }];
  });
  return { files: sorted.filter(({ bytes }) => refusalOf(bytes) === null), unfit };
}

/** Throws `STORAGE_UNSAFE` for a file that is too large to be read. */
export function checkBytes(path: string, bytes: number): void {
  const refusal = refusalOf(bytes);
  if (refusal !== null) throw unsafe(path, refusal);
}

export const unsafe = (path: string, reason: string): ToolError =>
  new ToolError("STORAGE_UNSAFE", `Cannot use ${quoted(path)}: ${reason}`);

export const inFoldersPlace = (): ToolError =>
  new ToolError("STORAGE_UNSAFE", "Cannot open the user's folder: something else is in a folder's place");

export const noFile = "it is not a regular file";

const refusalOf = (bytes: number): string | null =>
  bytes > storeLimits.fileBytesMax ? `it is ${bytes} bytes, at most ${storeLimits.fileBytesMax} allowed` : null;
