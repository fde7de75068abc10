/** Takes the locks of stores, and finishes what a crash has left there. */
import type { DataRoot } from "../../../disk/data-root.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { isMarked } from "../erased-names.ts";
import type { HomeSession } from "../home-session.ts";
import type { Homes } from "../homes.ts";
import type { Waiting } from "../open-session.ts";
import { settleMark } from "./erase-mark.ts";
import { lockStores } from "./lock-stores.ts";
import type { LockedStores } from "./lock-stores.ts";

export interface Recovering {
  readonly root: DataRoot;
  readonly homes: Homes<StoreId>;
}

/** Finishes everything. */
export async function lockRecovered(
  recovering: Recovering,
  ids: readonly StoreId[],
  waiting: Waiting,
  isThorough?: boolean,
): Promise<LockedStores> {
  const locked = await lockResolved(recovering, ids, waiting, isThorough);
  try {
    for (const [, session] of locked.sessions()) await session.recover();
    return locked;
  } catch (error) {
    locked[Symbol.dispose]();
    throw error;
  }
}

/** Finishes only what concerns a store and its owner's folder. */
export async function lockResolved(
  recovering: Recovering,
  ids: readonly StoreId[],
  waiting: Waiting,
  isThorough?: boolean,
): Promise<LockedStores> {
  const { homes } = recovering;
  for (;;) {
    const locked = await lockStores(homes, ids, waiting, isThorough);
    try {
      if (!(await settleMarks(recovering, locked))) return locked;
      locked[Symbol.dispose]();
    } catch (error) {
      locked[Symbol.dispose]();
      throw error;
    }
  }
}

/** Returns whether any store was erased, and so is no longer what was locked. */
async function settleMarks({ root, homes }: Recovering, locked: LockedStores): Promise<boolean> {
  let wereErased = false;
  for (const [id, { place }] of locked.sessions().filter(hasMark)) {
    if (!(await settleMark(root, id, place.folder))) continue;
    homes.drop(id);
    wereErased = true;
  }
  return wereErased;
}

function hasMark([, { place }]: readonly [StoreId, HomeSession]): boolean {
  return isMarked(place.own);
}
