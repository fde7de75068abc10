import type { ChangedFile } from "../../plan-changes.ts";
import { digestOf } from "../../reading.ts";
import { putContents, removeStaged } from "./apply-files.ts";
import { saveAside } from "./save-aside.ts";
import type { Aside } from "./save-aside.ts";

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
    notes.push(`${file.path} was edited meanwhile and was moved to ${await saveAside(aside, file, present)}`);
  }
  removeStaged(own);
  await putContents(own, folders, files);
  return notes;
}
