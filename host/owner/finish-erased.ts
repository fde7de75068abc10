/** Does what is left to do when a user is erased: at once, at the next start, or when the doctor is asked to. */
import type { Admission } from "../call/admission.ts";
import { changedGrants, grantsIn } from "../sharing/grants.ts";
import type { ErasedUser, LeftOver } from "../store/engine.ts";
import type { HeldHomes } from "../store/held-homes.ts";
import { storeHome } from "../store/home.ts";
import type { HoldOptions } from "../store/home.ts";
import type { Store } from "../store/store.ts";
import type { StoreId } from "../values/ids.ts";
import type { GrantChange, StoreGrant } from "../values/store-grant.ts";
import { ToolError, reasonOf } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import type { EndSignal } from "../values/turns.ts";

type Waiting = Pick<HoldOptions, "until" | "signal">;

interface Finishing extends Waiting {
  /** Called before others' grants are removed. If it throws, they stay. */
  readonly record: (changes: readonly GrantChange[]) => void;
}

/**
 * Files come first: on a full disk, nothing else can be changed before. Returns what is left, for another time. Throws only
 * the signal's reason: the erasure counts, whatever happens here.
 */
export async function finishErased(store: Store, erased: ErasedUser, finishing: Finishing): Promise<LeftOver[]> {
  const { signal } = finishing;
  const files = await leftAt(erased.store, signal, () => store.erased.removeFiles(erased, signal));
  const others = await leftAt(erased.store, signal, async () => {
    const unrevoked = await revokeAll(store, erased, finishing);
    // Also if some stores could not be read: with their hints, they would be left at each start.
    await store.erased.forget(erased, files.length + unrevoked.length === 0);
    return unrevoked;
  });
  return [...files, ...others];
}

/** The same of all whose erasure is not finished. The audit log has them already. */
export async function finishAllErased(store: Store, waitMs: number, signal?: EndSignal): Promise<void> {
  for (const erased of await store.erased.list()) {
    signal?.throwIfAborted();
    await finishErased(store, erased, { until: performance.now() + waitMs, signal, record: () => {} });
  }
}

/** The same in the background, at the start. Never rejects: what is left then, the doctor names. Closing ends it early. */
export async function finishLeftOver(store: Store, admission: Admission): Promise<void> {
  using _arrived = admission.arrive();
  await finishAllErased(store, 0, admission.closing).catch(() => {});
}

/** What work has left; if it fails, all that is at this store. */
async function leftAt(store: StoreId, signal: Waiting["signal"], work: () => Promise<LeftOver[]>): Promise<LeftOver[]> {
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof ToolError)) throw error;
    return [{ path: `stores/${store}`, reason: reasonOf(error) }];
  }
}

/** Grants that are later than the erasure stay: they are for the user's new memory. Returns what could not be removed. */
async function revokeAll(
  store: Store,
  { store: principal, erasedMs }: ErasedUser,
  { record, ...waiting }: Finishing,
): Promise<LeftOver[]> {
  const { grants, unreadable } = await grantsTo(store, principal, waiting);
  const stays = ({ grantee, grantedMs }: StoreGrant): boolean => grantee !== principal || grantedMs > erasedMs;
  const left = [...unreadable];
  for (const { store: id, grant } of grants) {
    if (stays(grant)) continue;
    const home = storeHome(id);
    const revoke = async (homes: HeldHomes): Promise<LeftOver[]> => {
      const held = homes.of(home);
      const before = await grantsIn(held);
      const { stored, changes } = changedGrants(id, before, before.filter(stays), erasedMs);
      record(changes);
      await held.commit({ changes: [], seen: [], grants: stored });
      return [];
    };
    left.push(...(await leftAt(id, waiting.signal, () => store.hold([home], "write", waiting, revoke))));
  }
  return left;
}

/** A grant to a principal, and whose it is. */
export interface ReceivedGrant {
  readonly store: StoreId;
  readonly grant: StoreGrant;
}

interface Received {
  readonly grants: readonly ReceivedGrant[];
  /** Stores whose grants cannot be read although a hint says that the principal has one, or not be read now. */
  readonly unreadable: readonly LeftOver[];
}

/** Asks all stores, because a hint can be missing. Those that cannot be read open themselves to nobody. */
export async function grantsTo(store: Store, principal: StoreId, { until, signal }: Waiting): Promise<Received> {
  const hinted = new Set((await store.hintsOf(principal)).map((hint) => hint.store));
  const grants: ReceivedGrant[] = [];
  const unreadable: LeftOver[] = [];
  for (const id of await store.stores()) {
    if (id === principal) continue;
    await giveTurn();
    const home = storeHome(id);
    const left = await leftAt(id, signal, async () => {
      try {
        const all = await store.hold([home], "read", { until, signal }, (held) => grantsIn(held.of(home)));
        grants.push(...all.filter(({ grantee }) => grantee === principal).map((grant) => ({ store: id, grant })));
      } catch (error) {
        if (signal?.aborted || hinted.has(id) || !isOfStorage(error)) throw error;
      }
      return [];
    });
    unreadable.push(...left);
  }
  return { grants, unreadable };
}

const isOfStorage = (error: unknown): boolean => error instanceof ToolError && error.code.startsWith("STORAGE_");
