/** All operations of a memory's owner. A new one is a file in this folder, and a line here. */
import type { OwnerOperation } from "../define-operation.ts";
import { inspect, mend } from "./doctor.ts";
import { add, edit, listEntries, search, showEntry, trash, vouch } from "./entries.ts";
import { erase } from "./erase.ts";
import { diff, history, restoreVersion } from "./history.ts";
import { runs } from "./sources.ts";
import { clear, grant, leave, listGrants, listStores, rejoin, revoke } from "./stores.ts";
import { exportMemory, importMemory, moveIn } from "./transfer.ts";
import { listTrash, purge, restore } from "./trash.ts";
import { undo } from "./undo.ts";
import { approve, listPending, reject, showPending } from "./waiting.ts";

const operations = [
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
] as const;

/** In the order in which a list of commands shows them. Each reads its own input, so that its type is no matter here. */
export const ownerOperations = operations as readonly unknown[] as readonly OwnerOperation[];
