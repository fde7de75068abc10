import { storeLimits } from "../../shared/limits.ts";
import { parseTrashPath, trashFolder } from "../../shared/path.ts";
import type { HeldReader } from "../store/store.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { TrashedFile } from "./upkeep.ts";

/**
 * What lies in the trash of all scopes of a place, the latest first. What could not be read can be listed; what is too large
 * for a file of a scope is not removed unread.
 */
export async function trashedFiles(reader: HeldReader): Promise<TrashedFile[]> {
  const files: TrashedFile[] = [];
  for (const scope of await reader.scopes()) {
    for (const { path, bytes } of await reader.list(scope, `${trashFolder}/`)) {
      const parsed = bytes > storeLimits.fileBytesMax ? null : parseTrashPath(path);
      if (parsed) files.push({ scope, name: path.slice(trashFolder.length + 1), ...parsed, bytes });
    }
  }
  return files.toSorted((a, b) => b.epochMs - a.epochMs || (a.name < b.name ? 1 : -1));
}

export const removalOf = ({ scope, name, bytes }: TrashedFile): SizedChange => ({
  kind: "remove",
  scope,
  path: `${trashFolder}/${name}`,
  bytes,
});
