import type { Change, ChangeSet } from "../../values/change-set.ts";
import { giveTurn } from "../../values/turns.ts";
import type { GrowingFile } from "../reading.ts";
import type { ScopeFolders } from "./scope-folders.ts";

/**
 * Removes files from the trash for good. `openFolders` is called for
 * each folder, so that few are open at once. Files that have gone meanwhile are left out.
 */
export async function purgeFiles(
  changes: ChangeSet,
  openFolders: () => ScopeFolders,
  isFlushed: boolean,
): Promise<GrowingFile[]> {
  const byFolder = new Map<string, Change[]>();
  for (const change of changes) {
    const folder = `${change.scope}/${change.path.slice(0, change.path.lastIndexOf("/"))}`;
    const together = byFolder.get(folder) ?? [];
    byFolder.set(folder, together);
    together.push(change);
  }
  const gone: GrowingFile[] = [];
  for (const together of byFolder.values()) {
    using folders = openFolders();
    for (const { scope, path } of together) {
      await giveTurn();
      const place = folders.find(scope, path);
      // Of any size, and with any number of names: the file is not read.
      const measured = place && place.folder.measure(place.name);
      if (place === null || measured === null) continue;
      place.folder.remove(place.name);
      gone.push({ scope, path, growth: { files: -1, bytes: -measured.bytes } });
    }
    if (isFlushed) await folders.flush();
  }
  return gone;
}
