import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { ListedFile } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isListed, isScopePath } from "../../../shared/path.ts";
import { ToolError } from "../../tool-error.ts";
import { failureOfDisk, isMissing } from "./disk-failure.ts";

/** The files that a listing with a prefix shows, sorted by path; `QUOTA_EXCEEDED` when they are too many. */
export function listFiles(folder: string, prefix: string): ListedFile[] {
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
export function bytesBelow(folder: string): number {
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
 * Visits the regular files below a folder whose path a guest could name. Links, devices and names outside the grammar
 * are passed over: they are not a guest's to see.
 */
function walkFiles(
  folder: string,
  above: string,
  isEntered: (path: string) => boolean,
  visit: (path: string, bytes: number) => void,
): void {
  for (const entry of entriesOf(folder)) {
    const path = above + entry.name;
    if (!isScopePath(path)) continue;
    const place = join(folder, entry.name);
    if (entry.isDirectory() && isEntered(path)) walkFiles(place, `${path}/`, isEntered, visit);
    const bytes = entry.isFile() ? bytesOf(place) : null;
    if (bytes !== null) visit(path, bytes);
  }
}

/** `null` when the file has gone meanwhile. */
function bytesOf(place: string): number | null {
  try {
    return lstatSync(place).size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw failureOfDisk(error, "list files");
  }
}

function entriesOf(folder: string): { name: string; isDirectory(): boolean; isFile(): boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw failureOfDisk(error, "list files");
  }
}
