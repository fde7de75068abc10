import type { OperationRecord } from "../audit/collect/operation-record.ts";
import type { HeldUser } from "../store/store.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import type { ChangeListeners } from "./change-listeners.ts";

/** A change set, and what it was made from. */
export interface StagedChanges {
  readonly changes: readonly SizedChange[];
  readonly seen: readonly Seen[];
}

export const nothingStaged: StagedChanges = { changes: [], seen: [] };

/** Commits a change set that is on record, and tells of it. What cannot be recorded is not committed. */
export async function commitChanges(
  { changes, seen }: StagedChanges,
  { held, record, listeners }: { held: HeldUser; record: OperationRecord; listeners: ChangeListeners },
): Promise<void> {
  if (changes.length === 0) return;
  record.staged(changes);
  await held.commit(changes, seen);
  record.committed();
  listeners.tell(changes, record.source);
}
