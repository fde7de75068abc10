import { isPurge } from "../../../values/change-set.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { ChangesOfStore } from "../../changes-by-store.ts";
import { refuseBytes, StaleCall } from "../../plan-changes.ts";
import { sizesAfter } from "../../scope-size.ts";
import { entriesScope } from "../../shared-stores.ts";
import type { StoreChanges } from "../../shared-stores.ts";
import { unstatedFacts } from "../../versions/version.ts";
import type { WriteFacts } from "../../versions/version.ts";
import type { HomeSession } from "../home-session.ts";
import type { Homes } from "../homes.ts";
import type { GrantedHints } from "./granted-hints.ts";
import { commitJoint } from "./joint-commit.ts";
import type { JointPart } from "./joint-commit.ts";
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

type Grants = StoreChanges["grants"] | undefined;

/** Commits the changes of one store, or of several stores together. Throws `StaleCall` if a new store is there by now. */
export async function commitStores(
  place: CommitPlace,
  changes: StoreChanges,
  byStore: readonly ChangesOfStore[],
): Promise<void> {
  refuseNewOnes(place);
  const [first] = byStore;
  if (first !== undefined && byStore.length === 1 && isPurge(first.changes)) await purgeStore(place, changes, first);
  else await commitParts(place, changes, byStore);
  forgetHints(place, changes.grants);
}

async function purgeStore(
  place: CommitPlace,
  { knownSizes, facts = unstatedFacts(Date.now()), derived = [] }: StoreChanges,
  { id, changes }: ChangesOfStore,
): Promise<void> {
  const session = place.locked.of(id) ?? (await openNew(place, id));
  const sizes = await session.purge(changes, {
    facts,
    derived: new Map([[entriesScope, derived]]),
    knownSizes: place.sizes.before(id, knownSizes),
  });
  place.sizes.keep(id, session.tail, sizes);
}

/** Prepares all parts before it records any. */
async function commitParts(
  place: CommitPlace,
  { by, knownSizes, grants, kind, facts = unstatedFacts(Date.now()) }: StoreChanges,
  byStore: readonly ChangesOfStore[],
): Promise<void> {
  const parts: JointPart[] = [];
  await prepare(place, { by, grants, facts, kind }, byStore, parts);
  await commitPrepared(parts);
  for (const { id, session, change } of parts) {
    place.sizes.keep(id, session.tail, sizesAfter(place.sizes.before(id, knownSizes), change.planned));
    place.homes.noteUse(id);
  }
}

async function prepare(
  place: CommitPlace,
  {
    by: creator,
    grants,
    facts,
    kind,
  }: Pick<StoreChanges, "by" | "kind"> & { readonly grants: Grants; readonly facts: WriteFacts },
  byStore: readonly ChangesOfStore[],
  parts: JointPart[],
): Promise<void> {
  try {
    for (const { id, ...wanted } of byStore) {
      const session = place.locked.of(id) ?? (await openNew(place, id));
      parts.push({ id, session, change: await session.prepare({ ...wanted, creator, facts, kind }) });
    }
    refuseBytes(parts.flatMap(({ change }) => change.planned));
    await addHints(place, grants);
  } catch (error) {
    for (const { change } of parts) change.discard();
    throw error;
  }
}

async function commitPrepared([leader, ...others]: readonly JointPart[]): Promise<void> {
  if (leader === undefined) return;
  if (others.length > 0) return await commitJoint(leader, others);
  await leader.session.commitPrepared(leader.change);
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

/** Before the commit: a hint without a grant does no harm, but a grant without a hint is not found. */
async function addHints({ hints }: CommitPlace, grants: Grants): Promise<void> {
  for (const [id, { granted, nowMs }] of grants ?? []) for (const each of granted) await hints.add(id, each, nowMs);
}

/**
 * After the commit: of grants that are gone, or that others have replaced. What fails here is left, since the change has
 * been made: a hint without a grant does no harm.
 */
function forgetHints({ hints }: CommitPlace, grants: Grants): void {
  for (const [id, { granted, revoked = [] }] of grants ?? []) {
    try {
      for (const each of granted) hints.remove(id, each.grantee, each);
      for (const principal of revoked) hints.remove(id, principal, null);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
    }
  }
}
