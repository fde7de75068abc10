import { isDerived } from "../../shared/derived-files.ts";
import { scopeOf } from "./pending-write.ts";
import type { PendingChange } from "./pending-write.ts";

/**
 * Whether a change set is what was shown, byte for byte, and is made from the same files. What a plugin makes from its
 * other files, such as an index, can differ: other entries are written meanwhile.
 */
export function isAsShown(
  shown: readonly PendingChange[],
  now: readonly PendingChange[],
  derived: ReadonlyMap<string, readonly string[]>,
): boolean {
  const isOfEntries = (change: PendingChange): boolean => !isDerivedChange(change, derived);
  return JSON.stringify(shown.filter(isOfEntries)) === JSON.stringify(now.filter(isOfEntries));
}

/** Whether a changed file is made from others by its plugin. */
export function isDerivedChange(
  change: Pick<PendingChange, "scope" | "path">,
  derived: ReadonlyMap<string, readonly string[]>,
): boolean {
  return isDerived(change.path, derived.get(scopeOf(change)) ?? []);
}
