import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { ListedFile } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isScopePath, isTrashPath } from "../../../shared/path.ts";
import { ToolError } from "../../tool-error.ts";
import { failureOfDisk, isMissing } from "./disk-failure.ts";

/**
 * The regular files below a folder whose path a guest could name, sorted. Links, devices and names outside the grammar
 * are passed over: they are not a guest's to see.
 */
export function listFiles(folder: string, isWanted: (path: string) => boolean): ListedFile[] {
  const found: ListedFile[] = [];
  collect(folder, "", isWanted, found);
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function collect(folder: string, above: string, isWanted: (path: string) => boolean, found: ListedFile[]): void {
  for (const entry of entriesOf(folder)) {
    const path = above + entry.name;
    if (!isScopePath(path) || !isWanted(path)) continue;
    const place = join(folder, entry.name);
    if (entry.isDirectory()) collect(place, `${path}/`, isWanted, found);
    else if (entry.isFile()) addFile(place, path, found);
  }
}

function addFile(place: string, path: string, found: ListedFile[]): void {
  if (found.length >= storeLimits.listEntriesMax) {
    throw new ToolError("QUOTA_EXCEEDED", `Cannot list files: more than ${storeLimits.listEntriesMax} are there`);
  }
  try {
    found.push({ path, bytes: lstatSync(place).size });
  } catch (error) {
    if (!isMissing(error)) throw failureOfDisk(error, "list files");
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

/** Which paths a listing with a prefix is about. Folders on the way to the prefix are wanted too. */
export function wantedBy(prefix: string): (path: string) => boolean {
  const isAboutTrash = isTrashPath(prefix);
  return (path) => isTrashPath(path) === isAboutTrash && (path.startsWith(prefix) || prefix.startsWith(`${path}/`));
}
