import type { StoreId } from "../../../values/store-id.ts";
import type { HomeSession } from "../home-session.ts";
import type { Homes } from "../homes.ts";
import type { Waiting } from "../open-session.ts";
import type { HomeVersion } from "./wal-version.ts";

/** Locks of several stores. Disposing of it releases those that are left. */
export class LockedStores implements Disposable {
  readonly #sessions: Map<StoreId, HomeSession>;

  constructor(sessions: Map<StoreId, HomeSession>) {
    this.#sessions = sessions;
  }

  /** `null` for a store without a lock: nobody has committed to it yet, or the disk is read-only. */
  of(id: StoreId): HomeSession | null {
    return this.#sessions.get(id) ?? null;
  }

  /** In the order of the ids. */
  sessions(): [StoreId, HomeSession][] {
    return [...this.#sessions].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Adds the session of a store that had no lock. */
  add(id: StoreId, session: HomeSession): void {
    this.#sessions.set(id, session);
  }

  /** Gives the sessions away: the caller releases them. */
  release(): [StoreId, HomeSession][] {
    const all = this.sessions();
    this.#sessions.clear();
    return all;
  }

  [Symbol.dispose](): void {
    for (const [, session] of this.release()) session[Symbol.dispose]();
  }
}

/**
 * Takes the locks of stores in the order of their ids, so that two calls never wait for each other. Changes nothing else:
 * what a crash has left stays.
 */
export async function lockStores(
  homes: Homes<StoreId>,
  ids: readonly StoreId[],
  waiting: Waiting,
  isThorough = false,
): Promise<LockedStores> {
  const sessions = new Map<StoreId, HomeSession>();
  try {
    for (const id of ids.toSorted()) {
      const session = await homes.lock(id, waiting, { isThorough });
      if (session !== null) sessions.set(id, session);
    }
    return new LockedStores(sessions);
  } catch (error) {
    for (const session of sessions.values()) session[Symbol.dispose]();
    throw error;
  }
}

export type Versions = ReadonlyMap<StoreId, HomeVersion>;

/** The locks of some stores, the versions of those that a writing work only reads, and of all that a reading one does. */
export interface Holding {
  readonly locked: LockedStores | null;
  readonly read: Versions;
  readonly noted?: Versions;
}

export const noLocks: Holding = { locked: null, read: new Map() };
