/** Looks once more at the files of a change that is recorded, before it is applied: people edit without a lock. */
import type { Pieces } from "../../../values/turns.ts";
import type { ChangedFile, PlannedFile } from "../../plan-changes.ts";
import { digestOf } from "../../reading.ts";
import type { ScopeFolders } from "../scope-folders.ts";

/**
 * Whether someone has changed a file since the change was planned. `false` if one cannot be read: applying it reports
 * that.
 */
export function* isEdited(folders: ScopeFolders, planned: readonly PlannedFile[]): Pieces<boolean> {
  try {
    for (const { scope, path, before, stamp } of planned) {
      yield;
      if (stamp !== null && folders.stampOf(scope, path)?.text === stamp) continue;
      if (digestOf(folders.read(scope, path)) !== before) return true;
    }
    return false;
  } catch {
    return false;
  }
}

/**
 * Whether someone has written a file since the change was planned, just before the change replaces it. A file that is gone
 * has nothing to lose.
 */
export function isWritten(folders: ScopeFolders, { scope, path, before, stamp }: PlannedFile): boolean {
  try {
    const present = folders.stampOf(scope, path);
    if (present === null || (stamp !== null && present.text === stamp)) return false;
    return digestOf(folders.read(scope, path)) !== before;
  } catch {
    return false;
  }
}

/** The files of a cancelled plan, each with its present content as the new one. */
export function asPresent(folders: ScopeFolders, planned: readonly PlannedFile[]): ChangedFile[] {
  return planned.map(({ scope, path, after }) => ({
    scope,
    path,
    before: digestOf(after),
    after: folders.read(scope, path),
  }));
}
