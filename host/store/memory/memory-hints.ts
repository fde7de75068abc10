import type { StoreId } from "../../values/store-id.ts";
import { byAge, checkRoom, isLive } from "../grant-hints.ts";
import type { GrantHint, GrantTimes } from "../grant-hints.ts";
import type { NewGrants } from "../shared-stores.ts";

/** What a principal was granted, by store, and the stores that it leaves out. */
interface OfPrincipal {
  readonly granted: Map<StoreId, GrantTimes>;
  readonly left: Set<StoreId>;
}

/** Hints to the principals of one `memoryStore`. */
export class MemoryHints {
  readonly #byPrincipal = new Map<StoreId, OfPrincipal>();

  list(principal: StoreId): GrantHint[] {
    const { granted, left } = this.#of(principal);
    const hints = Array.from(granted, ([store, { grantedMs, expiresMs }]) => {
      return { store, grantedMs, expiresMs, isLeft: left.has(store) };
    });
    return hints.toSorted(byAge);
  }

  /** Throws `QUOTA_EXCEEDED` for grants that a grantee has no room for. */
  check(store: StoreId, { granted, nowMs }: NewGrants): void {
    for (const { grantee } of granted) checkRoom(this.list(grantee), store, nowMs);
  }

  note(store: StoreId, { granted, revoked = [], nowMs }: NewGrants): void {
    for (const { grantee, ...times } of granted) this.#add(store, grantee, times, nowMs);
    for (const principal of revoked) {
      this.#of(principal).granted.delete(store);
      this.#forgetEmpty(principal);
    }
  }

  /** Returns whether that changed anything. */
  leave(principal: StoreId, store: StoreId, isLeft: boolean): boolean {
    const { granted, left } = this.#of(principal);
    if (isLeft ? left.has(store) || !granted.has(store) : !left.delete(store)) return false;
    if (isLeft) this.#byPrincipal.set(principal, { granted, left: left.add(store) });
    this.#forgetEmpty(principal);
    return true;
  }

  /** Forgets what hints a principal to others' stores, or others to the principal's, of grants up to a time. */
  forget(principal: StoreId, untilMs: number): void {
    for (const [each, { granted, left }] of this.#byPrincipal) {
      const ofGrants = each === principal ? [...granted.keys(), ...left] : [principal];
      for (const store of ofGrants) {
        if ((granted.get(store)?.grantedMs ?? 0) > untilMs) continue;
        granted.delete(store);
        left.delete(store);
      }
      this.#forgetEmpty(each);
    }
  }

  #add(store: StoreId, principal: StoreId, times: GrantTimes, nowMs: number): void {
    const { granted, left } = this.#of(principal);
    for (const [other, each] of granted) if (!isLive(each, nowMs)) granted.delete(other);
    this.#byPrincipal.set(principal, { granted: granted.set(store, times), left });
  }

  #of(principal: StoreId): OfPrincipal {
    return this.#byPrincipal.get(principal) ?? { granted: new Map(), left: new Set() };
  }

  #forgetEmpty(principal: StoreId): void {
    const { granted, left } = this.#of(principal);
    if (granted.size === 0 && left.size === 0) this.#byPrincipal.delete(principal);
  }
}
