import type { ListedFile } from "../../../shared/abi.ts";
import { isScopePath } from "../../../shared/path.ts";
import type { Directory, DirectoryEntry } from "../../disk/directory.ts";
import { reasonOf, ToolError } from "../../values/tool-error.ts";
import { sorted } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { ScopeSurvey, UnfitFile } from "../reading.ts";
import { byPath } from "../reading.ts";

/**
 * Lists everything below a folder, also what a read would refuse. Follows no link and opens no pipe. `hidden` is a name
 * in the folder to skip.
 */
export function* surveyFiles(folder: Directory, hidden: string | null = null): Pieces<ScopeSurvey> {
  const files: ListedFile[] = [];
  const unfit: UnfitFile[] = [];
  function* visit(within: Directory, above: string): Pieces<void> {
    for (const entry of within.entries()) {
      yield;
      if (within === folder && entry.name === hidden) continue;
      const path = above + entry.name;
      const found = isScopePath(path) ? measure(within, entry, path) : "its name is not a valid memory path";
      if (typeof found === "string") unfit.push({ path, reason: found });
      else if (found !== null) files.push({ path, bytes: found });
      if (found === null && entry.kind === "folder") yield* enter(within, entry.name, path);
    }
  }
  function* enter(within: Directory, name: string, path: string): Pieces<void> {
    try {
      using below = within.openFolder(name);
      if (below !== null) yield* visit(below, `${path}/`);
    } catch (error) {
      unfit.push({ path, reason: whyUnusable(error) });
    }
  }
  yield* visit(folder, "");
  return { files: yield* sorted(files, byPath), unfit: yield* sorted(unfit, byPath) };
}

/** A file's size in bytes, or why it cannot be read; `null` for a folder and for what has been removed meanwhile. */
function measure(folder: Directory, { name, kind }: DirectoryEntry, path: string): number | string | null {
  if (kind === "folder") return null;
  try {
    return folder.sizeOf(name, path);
  } catch (error) {
    return whyUnusable(error);
  }
}

/** Why a file or folder cannot be used, as a clause about "it". Throws errors of other kinds. */
export function whyUnusable(error: unknown): string {
  if (!(error instanceof ToolError) || !unusable.has(error.code)) throw error;
  return reasonOf(error);
}

const unusable: ReadonlySet<string> = new Set(["STORAGE_UNSAFE", "STORAGE_FAILED"]);
