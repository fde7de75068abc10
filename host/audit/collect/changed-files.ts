import type { SizedChange } from "../../values/change-set.ts";
import type { CallEntry } from "../audit-record.ts";

export type ChangedFiles = Pick<CallEntry, "writes" | "trashed" | "removed">;

/** The files of a change set, without what is written into them. */
export function changedBy(changes: readonly SizedChange[]): ChangedFiles {
  const files: ChangedFiles = { writes: [], trashed: [], removed: [] };
  for (const change of changes) {
    const { scope, path, bytes } = change;
    if (change.kind === "write") files.writes.push({ scope, path, bytes });
    else if (change.kind === "trash") files.trashed.push({ scope, path, bytes, trashed: change.trashed });
    else files.removed.push({ scope, path, bytes });
  }
  return files;
}
