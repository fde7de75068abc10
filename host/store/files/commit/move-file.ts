import { createOverLeftover } from "../../../disk/create-over-leftover.ts";
import type { Directory } from "../../../disk/directory.ts";
import { systemCode } from "../../../disk/disk-failure.ts";
import { ToolError } from "../../../values/tool-error.ts";

interface FileInFolder {
  readonly folder: Directory;
  readonly name: string;
}

/** No guest can name it, and no listing shows it. */
const stagedHere = ".memcell-staged";

/**
 * Moves a file by rename. Where a folder of the user is a mount of its own, the content is copied beside its target first
 * and then renamed: whoever looks sees whole files all the same.
 */
export function moveFile(source: FileInFolder, target: FileInFolder): void {
  try {
    source.folder.rename(source.name, target.folder, target.name);
  } catch (error) {
    if (!(error instanceof ToolError) || systemCode(error.cause) !== "EXDEV") throw error;
    copyFile(source, target);
  }
}

/**
 * As `moveFile`, where another file lies that is to go. The two trade places first: a rename that removes a file has ext4
 * write out the new one at once, which the WAL makes needless (RATIONALE.md).
 */
export function replaceFile(source: FileInFolder, target: FileInFolder): void {
  if (!source.folder.exchange(source.name, target.folder, target.name)) return moveFile(source, target);
  try {
    source.folder.remove(source.name);
  } catch (error) {
    // A person has put a folder there meanwhile, which a rename would have refused.
    if (systemCode((error as Error).cause) === "EISDIR") {
      source.folder.exchange(source.name, target.folder, target.name);
    }
    throw error;
  }
}

function copyFile(source: FileInFolder, { folder, name }: FileInFolder): void {
  const content = source.folder.read(source.name, name);
  if (content === null) throw new ToolError("STORAGE_FAILED", `Cannot move "${name}": it has gone meanwhile`);
  createOverLeftover(folder, stagedHere, { content, shown: name, like: source.folder.permissionsOf(source.name) });
  folder.rename(stagedHere, folder, name);
  source.folder.remove(source.name);
}
