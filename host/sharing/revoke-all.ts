/** Removes what others' stores grant an erased user. */
import type { ErasedUser, LeftOver } from "../store/engine.ts";
import { storeHome } from "../store/home.ts";
import type { HoldOptions } from "../store/home.ts";
import type { Store } from "../store/store.ts";
import type { StoreId } from "../values/ids.ts";
import type { GrantChange, StoreGrant } from "../values/store-grant.ts";
import { ToolError, reasonOf } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { changedGrants, grantsIn } from "./grants.ts";

export type Waiting = Pick<HoldOptions, "until" | "signal">;

/** A grant to a principal, and whose it is. */
export interface ReceivedGrant {
  readonly store: StoreId;
  readonly grant: StoreGrant;
}

export interface Received {
  readonly grants: readonly ReceivedGrant[];
  /** Stores whose grants cannot be read although a hint says that the principal has one, or not be read now. */
  readonly unreadable: readonly LeftOver[];
}

/** Asks all stores, because a hint can be missing. Those that cannot be read open themselves to nobody. */
export async function grantsTo(store: Store, principal: StoreId, waiting: Waiting): Promise<Received> {
  const hinted = new Set((await store.hintsOf(principal)).map((hint) => hint.store));
  const grants: ReceivedGrant[] = [];
  const unreadable: LeftOver[] = [];
  for (const id of await store.stores()) {
    if (id === principal) continue;
    await giveTurn();
    const home = storeHome(id);
    try {
      const all = await store.hold([home], "read", waiting, (held) => grantsIn(held.of(home)));
      grants.push(...all.filter(({ grantee }) => grantee === principal).map((grant) => ({ store: id, grant })));
    } catch (error) {
      waiting.signal?.throwIfAborted();
      if (hinted.has(id) || !isOfStorage(error)) unreadable.push(leftAt(id, error));
    }
  }
  return { grants, unreadable };
}

export interface Revoking extends Waiting {
  /** Called before each commit. If it throws, the store's grants stay. */
  readonly record: (changes: readonly GrantChange[]) => void;
}

/** Grants that are later than the erasure stay: they are for the user's new memory. Returns what could not be removed. */
export async function revokeAll(
  store: Store,
  { store: principal, erasedMs }: ErasedUser,
  { record, ...waiting }: Revoking,
): Promise<LeftOver[]> {
  const { grants, unreadable } = await grantsTo(store, principal, waiting);
  const left = [...unreadable];
  const isMeant = ({ grantee, grantedMs }: StoreGrant): boolean => grantee === principal && grantedMs <= erasedMs;
  for (const { store: id } of grants.filter(({ grant }) => isMeant(grant))) {
    const home = storeHome(id);
    try {
      await store.hold([home], "write", waiting, async (homes) => {
        const held = homes.of(home);
        const before = await grantsIn(held);
        const { stored, changes } = changedGrants(
          id,
          before,
          before.filter((grant) => !isMeant(grant)),
          erasedMs,
        );
        record(changes);
        await held.commit({ changes: [], seen: [], grants: stored });
      });
    } catch (error) {
      waiting.signal?.throwIfAborted();
      left.push(leftAt(id, error));
    }
  }
  return left;
}

function leftAt(store: StoreId, error: unknown): LeftOver {
  if (!(error instanceof ToolError)) throw error;
  return { path: `stores/${store}`, reason: reasonOf(error) };
}

const isOfStorage = (error: unknown): boolean => error instanceof ToolError && error.code.startsWith("STORAGE_");
