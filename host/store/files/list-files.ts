import type { ListedFile } from "../../../shared/abi.ts";
import { isListed, isScopePath } from "../../../shared/path.ts";
import type { Directory, Measured } from "../../disk/directory.ts";
import { sortedByPath, tooManyFiles } from "../reading.ts";

/** Measured files of one folder, by path: a call that lists files often sums their sizes too. */
export type KnownSizes = Map<string, Measured>;

/**
 * Lists the files under a prefix, sorted by path. Skips what a read would refuse. Throws `QUOTA_EXCEEDED` if there are
 * more than `filesMax`. `isTimed`: with the time of each file's last change.
 */
export function listFiles(
  folder: Directory,
  { prefix, filesMax, isTimed }: { readonly prefix: string; readonly filesMax: number; readonly isTimed: boolean },
  known: KnownSizes,
): ListedFile[] {
  const found: ListedFile[] = [];
  const isOnTheWay = (path: string): boolean => isListed(`${path}/`, prefix) || prefix.startsWith(`${path}/`);
  walkFiles(folder, "", isOnTheWay, (path, measure) => {
    if (!isListed(path, prefix)) return;
    const measured = measureOnce(path, measure, known);
    if (!measured?.isPlain) return;
    if (found.length >= filesMax) throw tooManyFiles();
    const { bytes, changedUs } = measured;
    found.push({ path, bytes, ...(isTimed && { changedUs }) });
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

/** `null` for a file that has been removed meanwhile. */
function measureOnce(path: string, measure: () => Measured | null, known: KnownSizes): Measured | null {
  const measured = known.get(path) ?? measure();
  if (measured !== null) known.set(path, measured);
  return measured;
}

/** Visits the files below a folder whose paths a guest can name. Skips links, devices and names outside the grammar. */
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
