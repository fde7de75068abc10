import { storeLimits } from "../../shared/limits.ts";
import { parseTrashPath, trashFolder } from "../../shared/path.ts";
import type { UserReader } from "../store/store.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { TrashedFile } from "./upkeep.ts";

/**
 * What lies in the trash of all scopes of a place, the latest first. What could not be read can be listed; what is too large
 * for a file of a scope is not removed unread.
 */
export function trashedFiles(reader: UserReader): TrashedFile[] {
  const files = reader.scopes().flatMap((scope) =>
    reader.list(scope, `${trashFolder}/`).flatMap(({ path, bytes }) => {
      const parsed = bytes > storeLimits.fileBytesMax ? null : parseTrashPath(path);
      return parsed ? [{ scope, name: path.slice(trashFolder.length + 1), ...parsed, bytes }] : [];
    }),
  );
  return files.toSorted((a, b) => b.epochMs - a.epochMs || (a.name < b.name ? 1 : -1));
}

export const removalOf = ({ scope, name, bytes }: TrashedFile): SizedChange => ({
  kind: "remove",
  scope,
  path: `${trashFolder}/${name}`,
  bytes,
});
