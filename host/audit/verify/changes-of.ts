import type { CallEntry } from "../audit-record.ts";
import type { Changes } from "./log-summary.ts";

/** Counts what a call has changed. A call that was not committed has changed nothing, whatever it staged. */
export function changesOf(call: Omit<CallEntry, "kind">): Changes {
  if (call.changes !== "committed") return { written: 0, trashed: 0, removed: 0, granted: 0 };
  const { writes, trashed, removed, granted = [] } = call;
  return { written: writes.length, trashed: trashed.length, removed: removed.length, granted: granted.length };
}
