import type { ListedFile } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isListed, isScopePath } from "../../../shared/path.ts";
import type { Directory, Measured } from "../../disk/directory.ts";
import { sortedByPath, tooManyFiles } from "../reading.ts";

/** The files of one folder that have been measured, by path: a call that lists files often sums them too. */
export type KnownSizes = Map<string, Measured>;

/**
 * The files that a listing with a prefix shows, sorted by path; `QUOTA_EXCEEDED` when they are too many. What a read would
 * refuse is passed over.
 */
export function listFiles(folder: Directory, prefix: string, known: KnownSizes): ListedFile[] {
  const found: ListedFile[] = [];
  const isOnTheWay = (path: string): boolean => isListed(`${path}/`, prefix) || prefix.startsWith(`${path}/`);
  walkFiles(folder, "", isOnTheWay, (path, measure) => {
    if (!isListed(path, prefix)) return;
    const measured = measureOnce(path, measure, known);
    if (!measured?.isPlain) return;
    if (found.length >= storeLimits.listEntriesMax) {
      throw tooManyFiles();
    }
    found.push({ path, bytes: measured.bytes });
  });
  return sortedByPath(found);
}

/** The bytes of all files below a folder. */
export function bytesBelow(folder: Directory, known: KnownSizes): number {
  let sum = 0;
  walkFiles(
    folder,
    "",
    () => true,
    (path, measure) => {
      sum += measureOnce(path, measure, known)?.bytes ?? 0;
    },
  );
  return sum;
}

/** `null` for a file that has gone meanwhile. */
function measureOnce(path: string, measure: () => Measured | null, known: KnownSizes): Measured | null {
  const measured = known.get(path) ?? measure();
  if (measured !== null) known.set(path, measured);
  return measured;
}

/**
 * Visits the files below a folder whose path a guest could name. Links, devices and names outside the grammar are passed
 * over: they are not a guest's to see.
 */
function walkFiles(
  folder: Directory,
  above: string,
  isEntered: (path: string) => boolean,
  visit: (path: string, measure: () => Measured | null) => void,
): void {
  for (const { name, kind } of folder.entries()) {
    const path = above + name;
    if (!isScopePath(path)) continue;
    if (kind === "folder" && isEntered(path)) {
      using below = folder.openFolder(name);
      if (below) walkFiles(below, `${path}/`, isEntered, visit);
    }
    if (kind === "file") visit(path, () => folder.measure(name));
  }
}
