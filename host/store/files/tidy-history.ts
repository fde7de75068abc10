/** Removes what a history need not keep, after versions have been moved to it. */
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { StoreSettings } from "../store-settings.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import type { KnownHistory } from "./history/known-history.ts";
import { writePresent } from "./history/present-file.ts";
import { pruneByAge, pruneToBytes, pruneVersions } from "./history/prune-history.ts";
import type { ScopeFolders } from "./scope-folders.ts";

/** After so many versions, at least, the present files' origins are written anew. */
const unwrittenMax = 512;

export async function tidyHistory(
  { own, folders }: { readonly own: Directory; readonly folders: ScopeFolders },
  known: KnownHistory,
  { history: limits, clock }: StoreSettings,
): Promise<void> {
  using history = HistoryFolder.make(own);
  const { origins } = known;
  const isThere = (scope: string, path: string): boolean => isFileIn(folders, scope, path);
  // The next content must not be told from one that is gone.
  if (await pruneByAge(history, { ...limits, nowMs: clock(), origins, isThere })) known.bases.clear();
  pruneToBytes(history, limits);
  if (!known.startsSegment && known.unwritten < Math.max(unwrittenMax, origins.size / 2)) return;
  await writePresent(history, origins);
  await history.folder.flush();
  known.unwritten = 0;
  pruneVersions(history);
}

/** `true` also of what cannot be looked at. */
function isFileIn(folders: ScopeFolders, scope: string, path: string): boolean {
  try {
    const place = folders.find(scope, path);
    return place !== null && place.folder.measure(place.name) !== null;
  } catch (error) {
    if (error instanceof ToolError) return true;
    throw error;
  }
}
