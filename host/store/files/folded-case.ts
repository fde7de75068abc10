/**
 * Disks that do not tell `a.md` from `A.md`. There, a name only counts as present when it is written exactly so:
 * otherwise a tool would read another entry than it asked for, or reach `trash/` as `Trash/`.
 */
import type { Directory } from "../../disk/directory.ts";

/** Whether a folder's disk folds case, told by a folder in it. A folder that is not there folds nothing. */
export function foldsCase(folder: Directory, name: string): boolean {
  const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
  if (other === name) return false;
  if (folder.identityOf(other) === null || folder.identityOf(name) === null) return false;
  // It is there under a name that no listing shows. Its number would not tell: a file system outside the kernel may give
  // one to each spelling.
  return !exactName(folder, other);
}

/** Whether a folder's disk folds case, told by whatever is in it: for a folder that is not named by us. */
export function foldsAnyCase(folder: Directory): boolean {
  const telling = folder.entries().find(({ name }) => /^(?=.*[A-Za-z])[A-Za-z0-9._-]{1,255}$/.test(name));
  return telling !== undefined && foldsCase(folder, telling.name);
}

export function exactName(folder: Directory, name: string): boolean {
  return folder.entries().some((entry) => entry.name === name);
}

/** The name in a folder that differs from another one only by case, if there is one. */
export function twinOf(folder: Directory, name: string): string | null {
  const folded = name.toLowerCase();
  const twin = folder.entries().find((entry) => entry.name !== name && entry.name.toLowerCase() === folded);
  return twin?.name ?? null;
}
