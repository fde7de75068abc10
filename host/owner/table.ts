/** All operations of a memory's owner. A new one stands beside what it does, and has a line here. */
import type { OwnerOperation } from "./define-operation.ts";
import { inspect, mend } from "./doctor.ts";
import { add, edit, trash, vouch } from "./edit.ts";
import { listEntries, search, showEntry } from "./entries.ts";
import { erase } from "./erase.ts";
import { exportMemory } from "./export.ts";
import { diff, history, restoreVersion } from "./history.ts";
import { importMemory } from "./import.ts";
import { moveIn } from "./move-in.ts";
import { approve, listPending, reject, showPending } from "./pending.ts";
import { restore } from "./restore.ts";
import { runs } from "./sources.ts";
import { listTrash, purge } from "./trash.ts";
import { undo } from "./undo.ts";
import { clear, grant, leave, listGrants, listStores, rejoin, revoke } from "./user-stores.ts";

export const operations = {
  listEntries,
  search,
  showEntry,
  add,
  edit,
  trash,
  vouch,
  listPending,
  showPending,
  approve,
  reject,
  history,
  diff,
  restoreVersion,
  runs,
  undo,
  listTrash,
  restore,
  purge,
  listStores,
  listGrants,
  grant,
  revoke,
  clear,
  leave,
  rejoin,
  exportMemory,
  importMemory,
  moveIn,
  erase,
  inspect,
  mend,
};

/** In the order in which a list of commands shows them. Each reads its own input, so that its type is no matter here. */
export const ownerOperations = Object.values<unknown>(operations) as readonly OwnerOperation[];
