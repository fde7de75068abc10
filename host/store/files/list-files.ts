import type { ListedFile } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isListed, isScopePath } from "../../../shared/path.ts";
import { ToolError } from "../../tool-error.ts";
import type { Directory } from "./disk/directory.ts";

/** The bytes of the files of one folder that have been asked for, by path: a call that lists files often sums them too. */
export type KnownSizes = Map<string, number>;

/** The files that a listing with a prefix shows, sorted by path; `QUOTA_EXCEEDED` when they are too many. */
export function listFiles(folder: Directory, prefix: string, known: KnownSizes): ListedFile[] {
  const found: ListedFile[] = [];
  const isOnTheWay = (path: string): boolean => isListed(`${path}/`, prefix) || prefix.startsWith(`${path}/`);
  walkFiles(folder, "", isOnTheWay, (path, measure) => {
    if (!isListed(path, prefix)) return;
    const bytes = sizeOf(path, measure, known);
    if (bytes === null) return;
    if (found.length >= storeLimits.listEntriesMax) {
      throw new ToolError("QUOTA_EXCEEDED", `Cannot list files: more than ${storeLimits.listEntriesMax} are there`);
    }
    found.push({ path, bytes });
  });
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The bytes of all files below a folder. */
export function bytesBelow(folder: Directory, known: KnownSizes): number {
  let sum = 0;
  walkFiles(
    folder,
    "",
    () => true,
    (path, measure) => {
      sum += sizeOf(path, measure, known) ?? 0;
    },
  );
  return sum;
}

/** `null` for a file that has gone meanwhile. */
function sizeOf(path: string, measure: () => number | null, known: KnownSizes): number | null {
  const bytes = known.get(path) ?? measure();
  if (bytes !== null) known.set(path, bytes);
  return bytes;
}

/**
 * Visits the plain files below a folder whose path a guest could name. Links, devices and names outside the grammar
 * are passed over: they are not a guest's to see.
 */
function walkFiles(
  folder: Directory,
  above: string,
  isEntered: (path: string) => boolean,
  visit: (path: string, measure: () => number | null) => void,
): void {
  for (const { name, kind } of folder.entries()) {
    const path = above + name;
    if (!isScopePath(path)) continue;
    if (kind === "folder" && isEntered(path)) {
      using below = folder.openFolder(name);
      if (below) walkFiles(below, `${path}/`, isEntered, visit);
    }
    if (kind === "file") visit(path, () => folder.bytesOf(name));
  }
}
