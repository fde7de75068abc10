/**
 * Removes files from the trash for good. A purge has no record in the write-ahead log: it must also work on a disk with
 * nothing free, and whoever wants a file gone loses nothing if a crash leaves it in the trash.
 */
import { isFullDisk } from "../../disk/disk-failure.ts";
import type { Change, ChangeSet } from "../../values/change-set.ts";
import { giveTurn } from "../../values/turns.ts";
import type { GrowingFile } from "../scope-size.ts";
import type { ScopeFolders } from "./scope-folders.ts";

/** A purge must free space where there is none. */
export function passOverFull(error: unknown): void {
  if (!isFullDisk(error)) throw error;
}

/** `openFolders` is called for each folder, so that few are open at once. Files that have gone meanwhile are left out. */
export async function purge(
  changes: ChangeSet,
  openFolders: () => ScopeFolders,
  isFlushed: boolean,
): Promise<GrowingFile[]> {
  const gone: GrowingFile[] = [];
  for (const together of byFolder(changes)) {
    using folders = openFolders();
    for (const file of together) {
      await giveTurn();
      gone.push(...removeFrom(folders, file));
    }
    if (isFlushed) await folders.flush();
  }
  return gone;
}

function byFolder(changes: ChangeSet): Iterable<Change[]> {
  const folders = new Map<string, Change[]>();
  for (const change of changes) {
    const folder = `${change.scope}/${change.path.slice(0, change.path.lastIndexOf("/"))}`;
    const together = folders.get(folder);
    if (together === undefined) folders.set(folder, [change]);
    else together.push(change);
  }
  return folders.values();
}

function removeFrom(folders: ScopeFolders, { scope, path }: Change): GrowingFile[] {
  const place = folders.find(scope, path);
  // Of any size, and with any number of names: the file is not read.
  const measured = place && place.folder.measure(place.name);
  if (place === null || measured === null) return [];
  place.folder.remove(place.name);
  return [{ scope, path, growth: { files: -1, bytes: -measured.bytes } }];
}
