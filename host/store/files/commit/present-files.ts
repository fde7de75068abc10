/** What lies on the disk now of the files of a plan. */
import { digestOf } from "../../digest.ts";
import type { ChangedFile, PlannedFile } from "../../plan-changes.ts";
import type { ScopeFolders } from "../scope-folders.ts";

/** Whether someone has changed a file since the change was planned. What cannot be looked at is left to who applies it. */
export function isEdited(folders: ScopeFolders, planned: readonly PlannedFile[]): boolean {
  try {
    return planned.some(({ scope, path, before }) => digestOf(folders.read(scope, path)) !== before);
  } catch {
    return false;
  }
}

/** What a plan that is given up leaves behind: each of its files as it is now. */
export function asPresent(folders: ScopeFolders, planned: readonly PlannedFile[]): ChangedFile[] {
  return planned.map(({ scope, path, after }) => ({
    scope,
    path,
    before: digestOf(after),
    after: folders.read(scope, path),
  }));
}
