import type { ListedFile } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isListed, isScopePath } from "../../../shared/path.ts";
import { ToolError } from "../../tool-error.ts";
import type { Directory } from "./disk/directory.ts";

/** The files that a listing with a prefix shows, sorted by path; `QUOTA_EXCEEDED` when they are too many. */
export function listFiles(folder: Directory, prefix: string): ListedFile[] {
  const found: ListedFile[] = [];
  const isOnTheWay = (path: string): boolean => isListed(`${path}/`, prefix) || prefix.startsWith(`${path}/`);
  walkFiles(folder, "", isOnTheWay, (path, bytes) => {
    if (!isListed(path, prefix)) return;
    if (found.length >= storeLimits.listEntriesMax) {
      throw new ToolError("QUOTA_EXCEEDED", `Cannot list files: more than ${storeLimits.listEntriesMax} are there`);
    }
    found.push({ path, bytes });
  });
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The bytes of all files below a folder. */
export function bytesBelow(folder: Directory): number {
  let sum = 0;
  walkFiles(
    folder,
    "",
    () => true,
    (_path, bytes) => {
      sum += bytes;
    },
  );
  return sum;
}

/**
 * Visits the plain files below a folder whose path a guest could name. Links, devices and names outside the grammar
 * are passed over: they are not a guest's to see.
 */
function walkFiles(
  folder: Directory,
  above: string,
  isEntered: (path: string) => boolean,
  visit: (path: string, bytes: number) => void,
): void {
  for (const { name, kind } of folder.entries()) {
    const path = above + name;
    if (!isScopePath(path)) continue;
    if (kind === "folder" && isEntered(path)) {
      using below = folder.openFolder(name);
      if (below) walkFiles(below, `${path}/`, isEntered, visit);
    }
    const bytes = kind === "file" ? folder.bytesOf(name) : null;
    if (bytes !== null) visit(path, bytes);
  }
}
