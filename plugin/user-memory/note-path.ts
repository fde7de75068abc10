/** Which files are notes, and which of them can be entries. */
import { isTrashPath } from "../../shared/path.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryNameAt, indexPath, isReserved } from "./entry-name.ts";

/** Whether a file of a scope is a note. Some cannot be entries: `whyNoEntry`. */
export const isNotePath = (path: string): boolean => path.endsWith(ending) && path !== indexPath && !isTrashPath(path);

const ending = ".md";

/** Whether an entry can be at a path of a scope. */
export const isEntryPath = (path: string): boolean =>
  entryNameAt(path) !== null || (isNotePath(path) && whyNoEntry(path) === null);

/** Why a note cannot be an entry, as a clause about it; `null` if it can be one. */
export function whyNoEntry(path: string): string | null {
  if (isReserved(path.slice(0, -ending.length))) return "its name is reserved";
  const bytes = path.length - 2 * (path.split("%").length - 1);
  const { notePathBytesMax } = entryLimits;
  if (bytes <= notePathBytesMax) return null;
  return `its path has ${bytes} bytes, at most ${notePathBytesMax} allowed: its name in the trash would be too long`;
}
