/** The command `rename`: a file, or a folder with all that is in it. All of it or nothing. */
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { done } from "../change-entry.ts";
import type { Changed } from "../change-entry.ts";
import type { FoundEntry } from "../entry-store.ts";
import { checkKey, refuseHiddenKey } from "../memory-path.ts";
import { parseFilePath, refuseRoot } from "./file-path.ts";
import type { FilePath } from "./file-path.ts";
import { OwnFiles } from "./own-files.ts";
import type { RenameInput } from "./schemas.ts";

export function renamePath({ old_path: oldPath, new_path: newPath }: RenameInput): Answer<Changed> {
  const [from, to] = [parseFilePath(oldPath), parseFilePath(newPath)];
  refuseRoot(from, "rename");
  refuseHiddenKey(to.key);
  const files = new OwnFiles();
  if (files.find(to) !== null) {
    throw new ToolError("NAME_CONFLICT", `Error: The destination ${to.shown} already exists`);
  }
  files.refuseBelowFile(to);
  const named = files.find(from);
  if (named === null) throw new ToolError("ENTRY_NOT_FOUND", `Error: The path ${from.shown} does not exist`);
  if (named.folder) renameFolder(files, from, to);
  else move(files, files.ownOf(named.entries, from), to.key);
  files.at.saveIndex();
  return done(`Successfully renamed ${from.shown} to ${to.shown}`);
}

function renameFolder(files: OwnFiles, from: FilePath, to: FilePath): void {
  const prefix = `${from.key}/`;
  if (to.key.startsWith(prefix)) {
    throw new ToolError("NAME_CONFLICT", `Cannot rename ${from.shown} to ${to.shown}: a directory cannot be in itself`);
  }
  for (const entry of files.ownIn({ prefix }, from)) move(files, entry, `${to.key}/${entry.key.slice(prefix.length)}`);
}

/** Changes only the key: value, times and flags stay. */
function move({ at }: OwnFiles, entry: FoundEntry, key: string): void {
  // In a folder whose new name is longer, a key can become too long.
  checkKey(key);
  // Before it is written again: a full store has no room for both.
  at.trash(entry);
  at.write({ ...entry, key, updated: entry.updated ?? at.now }, null);
}
