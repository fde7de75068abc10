import type { Change, Seen } from "../values/change-set.ts";
import type { StoreId } from "../values/store-id.ts";
import { checkedStore } from "./reading.ts";
import { entriesScope, grantsPath, grantsScope } from "./shared-stores.ts";
import type { StoreChanges } from "./shared-stores.ts";

/** What a change set changes in one store, with the scopes inside the store. */
export interface ChangesOfStore {
  readonly id: StoreId;
  readonly changes: readonly Change[];
  readonly seen: readonly Seen[];
}

/**
 * Divides changes by their stores, in the order of the stores' ids. `grantsSeen` is what was read of a store's grants.
 * Throws `CAPABILITY_DENIED` for a scope that names no store.
 */
export function changesByStore(
  { changes, seen, grants = new Map() }: StoreChanges,
  grantsSeen: (id: StoreId) => readonly Seen[],
): ChangesOfStore[] {
  const byStore = new Map<StoreId, Change[]>();
  const of = (id: StoreId): Change[] => {
    const list = byStore.get(id) ?? [];
    byStore.set(id, list);
    return list;
  };
  for (const change of changes) of(checkedStore(change.scope)).push({ ...change, scope: entriesScope });
  for (const [id, { content }] of grants) {
    of(id).push({ kind: "write", scope: grantsScope, path: grantsPath, content });
  }
  const ids = [...byStore.keys()].toSorted();
  return ids.map((id) => {
    const ofEntries = seen
      .filter(({ scope }) => checkedStore(scope) === id)
      .map(({ path, digest }): Seen => ({ scope: entriesScope, path, digest }));
    return { id, changes: of(id), seen: [...ofEntries, ...grantsSeen(id)] };
  });
}
