/**
 * Some disks do not distinguish `a.md` from `A.md`. There, a name counts as present only if the spelling is exact.
 * Otherwise a tool would read another entry than requested, or reach `trash/` as `Trash/`.
 */
import type { Directory } from "../../disk/directory.ts";

/** Whether a folder's disk folds case, tested with a name in it. `false` if nothing has that name. */
export function foldsCase(folder: Directory, name: string): boolean {
  const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
  if (other === name) return false;
  if (folder.identityOf(other) === null || folder.identityOf(name) === null) return false;
  // The other spelling can be opened. If no listing shows it, the disk folds case. The inode number is no help: a file
  // system outside the kernel can give each spelling its own.
  return !exactName(folder, other);
}

/** As `foldsCase`, tested with any suitable name in the folder: for a mounted folder. */
export function foldsAnyCase(folder: Directory): boolean {
  const telling = folder.entries().find(({ name }) => /^(?=.*[A-Za-z])[A-Za-z0-9._-]{1,255}$/.test(name));
  return telling !== undefined && foldsCase(folder, telling.name);
}

export function exactName(folder: Directory, name: string): boolean {
  return folder.entries().some((entry) => entry.name === name);
}

/** The name in a folder that differs from this one only in case, or `null`. */
export function twinOf(folder: Directory, name: string): string | null {
  const folded = name.toLowerCase();
  const twin = folder.entries().find((entry) => entry.name !== name && entry.name.toLowerCase() === folded);
  return twin?.name ?? null;
}
