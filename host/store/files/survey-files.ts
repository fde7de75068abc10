import type { ListedFile } from "../../../shared/abi.ts";
import { isScopePath } from "../../../shared/path.ts";
import type { Directory, DirectoryEntry } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { sortedByPath } from "../reading.ts";
import type { ScopeSurvey, UnfitFile } from "../store.ts";

/**
 * Lists everything below a folder, also what a read would refuse. Follows no link and opens no pipe. `hidden` is a name
 * in the folder to skip.
 */
export function surveyFiles(folder: Directory, hidden: string | null = null): ScopeSurvey {
  const files: ListedFile[] = [];
  const unfit: UnfitFile[] = [];
  const visit = (within: Directory, above: string): void => {
    for (const entry of within.entries()) {
      if (within === folder && entry.name === hidden) continue;
      const path = above + entry.name;
      const found = isScopePath(path) ? measure(within, entry, path) : "its name is not a valid memory path";
      if (typeof found === "string") unfit.push({ path, reason: found });
      else if (found !== null) files.push({ path, bytes: found });
      using below = found === null && entry.kind === "folder" ? within.openFolder(entry.name) : null;
      if (below !== null) visit(below, `${path}/`);
    }
  };
  visit(folder, "");
  return { files: sortedByPath(files), unfit: sortedByPath(unfit) };
}

/** A file's size in bytes, or why it cannot be read; `null` for a folder and for what has been removed meanwhile. */
function measure(folder: Directory, { name, kind }: DirectoryEntry, path: string): number | string | null {
  if (kind === "folder") return null;
  try {
    return folder.sizeOf(name, path);
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== "STORAGE_UNSAFE") throw error;
    return error.message.split(": ").at(-1) ?? "";
  }
}
