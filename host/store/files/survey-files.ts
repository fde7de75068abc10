import type { ListedFile } from "../../../shared/abi.ts";
import { encodedName, isEncodedName } from "../../../shared/encoded-name.ts";
import { storeLimits } from "../../../shared/limits.ts";
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
      try {
        if (isScopePath(path)) yield* look(within, entry, path);
        else unfit.push({ path, reason: whyNoPath(path) });
      } catch (error) {
        unfit.push({ path, reason: whyUnusable(error) });
      }
    }
  }
  function* look(within: Directory, { name, kind }: DirectoryEntry, path: string): Pieces<void> {
    using below = kind === "folder" ? within.openFolder(name) : null;
    if (below !== null) yield* visit(below, `${path}/`);
    const bytes = kind === "folder" ? null : within.sizeOf(name, path);
    if (bytes !== null) files.push({ path, bytes });
  }
  yield* visit(folder, "");
  return { files: yield* sorted(files, byPath), unfit: yield* sorted(unfit, byPath) };
}

/** Why no path leads to a file or folder whose last name is as the disk has it, as a clause about "it". */
export function whyNoPath(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (isEncodedName(name)) return `its path has over ${storeLimits.pathBytesMax} bytes`;
  return encodedName(name) === null
    ? "its name is not a valid memory path"
    : "another file has this name, in another form of Unicode";
}

/** Why a file or folder cannot be used, as a clause about "it". Throws errors of other kinds. */
export function whyUnusable(error: unknown): string {
  if (!(error instanceof ToolError) || !unusable.has(error.code)) throw error;
  return reasonOf(error);
}

const unusable: ReadonlySet<string> = new Set(["STORAGE_UNSAFE", "STORAGE_FAILED"]);
