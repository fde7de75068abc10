import type { StoreId } from "../../../values/store-id.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { StaleCall } from "../../plan-changes.ts";
import { entriesScope } from "../../shared-stores.ts";
import type { NewGrants, StoreChanges } from "../../shared-stores.ts";
import { unstatedFacts } from "../../versions/version.ts";
import type { HomeSession } from "../home-session.ts";
import type { Homes } from "../homes.ts";
import type { GrantedHints } from "./granted-hints.ts";
import type { LockedStores } from "./lock-stores.ts";
import type { StoreSizes } from "./store-sizes.ts";
import { readVersion } from "./wal-version.ts";

/** Some stores that are held under their locks. */
export interface CommitPlace {
  readonly homes: Homes<StoreId>;
  readonly hints: GrantedHints;
  readonly ids: readonly StoreId[];
  readonly locked: LockedStores;
  readonly sizes: StoreSizes;
}

/** Commits the changes of one of the stores. Throws `StaleCall` if a new store is there by now. */
export async function commitStore(place: CommitPlace, id: StoreId, changes: StoreChanges): Promise<void> {
  refuseNewOnes(place);
  const { by: creator, seen, grants, kind, facts = unstatedFacts(Date.now()), derived = [] } = changes;
  const session = place.locked.of(id) ?? (await openNew(place, id));
  // Before the commit: a hint without a grant does no harm, but a grant without a hint is not found.
  for (const each of grants?.granted ?? []) await place.hints.add(id, each, grants?.nowMs ?? 0);
  const sizes = await session.commit(changes.changes, seen, {
    creator,
    facts,
    kind,
    derived: new Map([[entriesScope, derived]]),
    knownSizes: place.sizes.before(id, changes.knownSizes),
  });
  place.sizes.keep(id, session.tail, sizes);
  place.homes.noteUse(id);
  if (grants) forgetHints(place, id, grants);
}

/** Makes a store's folder and lock. Never waits for the lock: locks of higher ids are perhaps held already. */
async function openNew({ homes, locked }: CommitPlace, id: StoreId): Promise<HomeSession> {
  try {
    const session = await homes.openFirst(id, { until: performance.now() });
    locked.add(id, session);
    return session;
  } catch (error) {
    throw error instanceof ToolError && error.code === "BUSY" ? new StaleCall() : error;
  }
}

/** Throws `StaleCall` if a store that had no lock when the hold began has been made since. */
function refuseNewOnes({ homes, ids, locked }: CommitPlace): void {
  const isNew = (id: StoreId): boolean => locked.of(id) === null && readVersion(homes.homeOf(id)).wal !== null;
  if (ids.some(isNew)) throw new StaleCall();
}

/**
 * After the commit: of grants that are gone, or that others have replaced. What fails here is left, since the change has
 * been made: a hint without a grant does no harm.
 */
function forgetHints({ hints }: CommitPlace, id: StoreId, { granted, revoked = [] }: NewGrants): void {
  try {
    for (const each of granted) hints.remove(id, each.grantee, each);
    for (const principal of revoked) hints.remove(id, principal, null);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
  }
}
