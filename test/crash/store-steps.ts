import { scopeOfStore } from "../stage/store.ts";
import type { Change, ChangeSet, NewGrants, StoreChanges, StoreGrant, StoreId, UserId } from "../stage/store.ts";
/** Calls that change or read several shared stores, made without a tool. */
import { isGrantsScope, letters, storeChangesFor, storeOf } from "./model/store-operation.ts";
import type { StoreOperation } from "./model/store-operation.ts";
import type { FileStore } from "./store-under-test.ts";

type Store = InstanceType<typeof FileStore>;

/** Stores are letters, as in the model. */
export type StoreStep =
  | { readonly kind: "change stores"; readonly operation: StoreOperation }
  /** A call that changes nothing, but finishes unfinished work. */
  | { readonly kind: "look at stores"; readonly in: string }
  /** The same, without the locks while it works. */
  | { readonly kind: "read stores"; readonly in: string };

export async function takeStoreStep(store: Store, step: StoreStep, until: number): Promise<void> {
  const ids = Array.from(step.kind === "change stores" ? letters : step.in, storeOf);
  await store.shared.hold(ids, { writes: step.kind !== "read stores", until }, async (held) => {
    if (step.kind !== "change stores") return;
    using reader = store.openShared();
    const changes = divided(storeChangesFor(reader, step.operation, 1));
    await held.commit({ by: "someone" as UserId, ...changes, seen: reader.seen });
  });
}

/** What the hints say matters to no test of crashes. */
const granted: StoreGrant = { grantee: storeOf("c"), level: "read", grantedMs: 1, expiresMs: null };

/** The changes of a model with the stores' real scopes, and the grants apart. */
export function divided(changes: ChangeSet): Required<Pick<StoreChanges, "changes" | "grants">> {
  const grants = new Map<StoreId, NewGrants>();
  const entries: Change[] = [];
  for (const change of changes) {
    const id = storeOf(change.scope.charAt(0));
    if (!isGrantsScope(change.scope)) entries.push({ ...change, scope: scopeOfStore(id) });
    else if (change.kind === "write") grants.set(id, { content: String(change.content), granted: [granted], nowMs: 0 });
  }
  return { changes: entries, grants };
}
