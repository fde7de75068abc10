import { scopeOfStore } from "../stage/store.ts";
import type { Change, HeldStores, NewGrants, StoreGrant, StoreId } from "../stage/store.ts";
/** Shared stores of the suites, in the order of their ids, and steps in them. */
import type { StoreStage } from "./store-stage.ts";

export const storeAt = (at: number): StoreId => `${String(at).padStart(8, "0")}-1111-4111-8111-111111111111` as StoreId;

export const [storeA, storeB, storeC] = [1, 2, 3].map(storeAt) as [StoreId, StoreId, StoreId];

/** New grants of one store. */
export const granting = (id: StoreId, content: string, grants: Partial<NewGrants> = {}): Map<StoreId, NewGrants> =>
  new Map([[id, { content, granted: [], nowMs: 0, ...grants }]]);

/** A grant without end. */
export const to = (grantee: StoreId, grantedMs = 1): StoreGrant => ({
  grantee,
  level: "read",
  grantedMs,
  expiresMs: null,
});

export const writeIn = (id: StoreId, path: string, content: string): Change => ({
  kind: "write",
  scope: scopeOfStore(id),
  path,
  content,
});

export const removeIn = (id: StoreId, path: string): Change => ({ kind: "remove", scope: scopeOfStore(id), path });

export const trashIn = (id: StoreId, path: string, trashed: string): Change => ({
  kind: "trash",
  scope: scopeOfStore(id),
  path,
  trashed,
});

export async function textOf(held: HeldStores, id: StoreId, path: string): Promise<string | null> {
  const bytes = await held.reader(id).bytesOf("entries", path);
  return bytes && Buffer.from(bytes).toString();
}

export async function grantsOf(held: HeldStores, id: StoreId): Promise<string | null> {
  const bytes = await held.reader(id).bytesOf("grants", "grants.json");
  return bytes && Buffer.from(bytes).toString();
}

/** All entries of some stores, by `<store's number>/<path>`. */
export async function entriesOf(stage: StoreStage, ids: readonly StoreId[] = [storeA, storeB]): Promise<object> {
  return await stage.holdStores(ids, async (held) => {
    const found: Record<string, string | null> = {};
    for (const id of ids) {
      const { files } = await held.reader(id).survey("entries");
      for (const { path } of files) found[`${Number(id.slice(0, 8))}/${path}`] = await textOf(held, id, path);
    }
    return found;
  });
}
