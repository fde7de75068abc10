import { isScopePath } from "../../../../shared/path.ts";
import type { Directory } from "../../../disk/directory.ts";
import { freeTrashPath } from "../../../values/trash-path.ts";
import type { ChangedFile } from "../../plan-changes.ts";
import { digestOf } from "../../reading.ts";
import { hostFolder } from "../home.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { putContent, putContents, removeStaged } from "./apply-files.ts";
import { flushTrusted } from "./retire.ts";
import type { TouchedFile } from "./retire.ts";
import type { Wal } from "./wal.ts";

export interface Aside {
  readonly own: Directory;
  readonly folders: ScopeFolders;
  readonly wal: Wal;
  readonly epochMs: number;
}

/**
 * Copies a file to the trash and flushes the copy before anything replaces the file. A mere move could be lost while
 * later changes are not.
 */
export async function saveAside(aside: Aside, file: TouchedFile, content: Buffer): Promise<string> {
  const { own, folders, wal, epochMs } = aside;
  const { scope, path } = file;
  const base = path.startsWith("trash/") ? path.slice("trash/".length) : path;
  const isTaken = (each: string): boolean => folders.twinOf(scope, each) !== null || folders.read(scope, each) !== null;
  const wanted = freeTrashPath(base, epochMs, isTaken);
  const saved = isScopePath(wanted) ? wanted : freeTrashPath("recovered.md", epochMs, isTaken);
  await putContent(own, folders, { scope, path: saved, after: content });
  await flushTrusted(folders, wal, [{ scope, path: saved }]);
  return saved;
}

/**
 * Applies a committed change of whose files a person has edited some since it was planned. Copies those to the trash
 * first. Returns what was put aside, in words.
 */
export async function replaceEdited(aside: Aside, files: readonly ChangedFile[]): Promise<string[]> {
  const { own, folders } = aside;
  const notes: string[] = [];
  for (const file of files) {
    const present = folders.read(file.scope, file.path);
    const digest = digestOf(present);
    if (present === null || digest === file.before || digest === digestOf(file.after)) continue;
    if (file.scope === hostFolder) continue;
    notes.push(`${file.path} was edited meanwhile and was moved to ${await saveAside(aside, file, present)}`);
  }
  removeStaged(own);
  await putContents(own, folders, files);
  return notes;
}
