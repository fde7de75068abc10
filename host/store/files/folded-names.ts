/**
 * Some disks do not distinguish `a.md` from `A.md`. There, a name counts as present only if the spelling is exact.
 * Otherwise a tool would read another entry than requested, or reach `trash/` as `Trash/`.
 */
import { decodedName } from "../../../shared/encoded-name.ts";
import type { Directory } from "../../disk/directory.ts";

/**
 * Whether a folder's disk folds case, tested with a name in it that is not encoded. `false` if nothing has that name, and
 * if it has no letters.
 */
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

/**
 * The name in a folder that a disk takes for this one, or `null`. No table of ours has every pair that some disk folds, so
 * a name that the disk finds and a listing does not show is one, too: its own twin.
 */
export function twinOf(folder: Directory, name: string, fold = folded): string | null {
  const names = folder.entries().map((entry) => entry.name);
  const twin = names.find((each) => each !== name && fold(each) === fold(name));
  if (twin !== undefined || names.includes(name)) return twin ?? null;
  return name.includes("%") && folder.identityOf(name) !== null ? name : null;
}

/** A name or a path without the differences that disks overlook: case, and letters that differ only by what case does. */
export const folded = (path: string): string => caseless(decodedIfValid(path)).normalize("NFC");

const caseless = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase();

/** A listing also has names that are in no path. */
function decodedIfValid(path: string): string {
  try {
    return decodedName(path);
  } catch {
    return path;
  }
}
