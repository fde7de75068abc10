/**
 * Changes of the host's records, durable before they are told. A process that was killed before its flush leaves names
 * that the system shows and the disk does not have: whoever holds the home next flushes them before anybody sees them.
 */
import { createOverLeftover } from "../../disk/create-over-leftover.ts";
import type { Directory } from "../../disk/directory.ts";
import { recordKinds } from "../held-records.ts";
import { removeStaged } from "./commit/apply-files.ts";

/** There as long as the names of records are perhaps not on the disk. */
const mark = "staged-mark";

/** Makes a change in a folder of `own`, and flushes the folders that it has changed. */
export async function changeDurably(
  own: Directory,
  changed: readonly Directory[],
  change: () => Promise<void> | void,
): Promise<void> {
  createOverLeftover(own, mark, { content: Buffer.alloc(0), shown: mark });
  await change();
  for (const folder of changed) await folder.flush();
  own.remove(mark);
}

/** Finishes what a killed process has begun. */
export async function settleRecords(own: Directory): Promise<void> {
  if (own.measure(mark) === null) return;
  for (const kind of recordKinds) {
    using folder = own.openFolder(kind);
    await folder?.flush();
  }
  await own.flush();
  removeStaged(own);
}
