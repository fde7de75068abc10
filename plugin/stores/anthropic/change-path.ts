/** The commands `create`, `delete` and `rename`: of a file, or of a folder with all that is in it. All of it or nothing. */
import { trashedNote } from "../../kit/file-text.ts";
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { done } from "../change-entry.ts";
import type { Changed } from "../change-entry.ts";
import type { FoundEntry } from "../entry-store.ts";
import { forModels } from "../key-path.ts";
import { checkKey, refuseHiddenKey } from "../memory-path.ts";
import { refuseHidden, valueFrom } from "../value.ts";
import { parseFilePath, refuseRoot } from "./file-path.ts";
import type { FilePath } from "./file-path.ts";
import { OwnFiles } from "./own-files.ts";
import type { CreateInput, PathInput, RenameInput } from "./schemas.ts";

/** It never overwrites. */
export function createFile({ path, file_text: text }: CreateInput): Answer<Changed> {
  const place = parseFilePath(path);
  refuseHiddenKey(place.key);
  refuseHidden("file_text", text);
  const files = new OwnFiles();
  if (files.find(place) !== null) throw new ToolError("NAME_CONFLICT", `Error: File ${place.shown} already exists`);
  files.refuseBelowFile(place);
  const { at, self } = files;
  const entry = { ...forModels(self, place.key), encrypted: false, value: valueFrom(text) };
  const trashed = at.write({ ...entry, ...at.times(null, undefined) }, null);
  at.saveIndex();
  return done(`File created successfully at: ${place.shown}${trashedNote(trashed)}`, []);
}

/** What it deletes goes to the trash. */
export function deletePath({ path }: PathInput): Answer<Changed> {
  const place = parseFilePath(path);
  refuseRoot(place, "delete");
  const files = new OwnFiles();
  const named = files.find(place);
  if (named === null) throw new ToolError("ENTRY_NOT_FOUND", `Error: The path ${place.shown} does not exist`);
  const entries = named.folder ? files.ownIn(named.folder, place) : [files.ownOf(named.entries, place)];
  for (const entry of entries) files.at.trash(entry);
  files.at.saveIndex();
  return done(`Successfully deleted ${place.shown}`, []);
}

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
  return done(`Successfully renamed ${from.shown} to ${to.shown}`, []);
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
