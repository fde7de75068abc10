import type { StoreId } from "../../values/ids.ts";
import type { NewGrants } from "../engine.ts";
import { byAge, checkRoom, isLive } from "../grant-hints.ts";
import type { GrantHint, GrantTimes } from "../grant-hints.ts";

/** What a store has granted to a principal, and whether the principal leaves it out, whatever it grants later. */
interface Hint {
  readonly times: GrantTimes | null;
  readonly isLeft: boolean;
}

/** The hints of one `memoryStore`, by principal and store. */
export class MemoryHints {
  readonly #hints = new Map<StoreId, Map<StoreId, Hint>>();

  list(principal: StoreId): GrantHint[] {
    const hints = [...(this.#hints.get(principal) ?? [])];
    return hints
      .flatMap(([store, { times, isLeft }]) => (times ? Object.assign({ store, isLeft }, times) : []))
      .toSorted(byAge);
  }

  /** Throws `QUOTA_EXCEEDED`, and notes nothing, if a grantee has no room for another store. */
  note(store: StoreId, { granted, revoked = [], nowMs }: NewGrants): void {
    for (const { grantee } of granted) checkRoom(this.list(grantee), store, nowMs);
    for (const { grantee, grantedMs, expiresMs } of granted) {
      for (const hint of this.list(grantee)) if (!isLive(hint, nowMs)) this.#set(grantee, hint.store, { times: null });
      this.#set(grantee, store, { times: { grantedMs, expiresMs } });
    }
    for (const principal of revoked) this.#set(principal, store, { times: null });
  }

  leave(principal: StoreId, store: StoreId, isLeft: boolean): void {
    this.#set(principal, store, { isLeft });
  }

  leftBy(principal: StoreId): StoreId[] {
    const hints = [...(this.#hints.get(principal) ?? [])];
    return hints.flatMap(([store, { isLeft }]) => (isLeft ? store : [])).toSorted();
  }

  /** Forgets what hints a principal to others' stores, or others to the principal's, of grants up to a time. */
  forget(principal: StoreId, untilMs: number): void {
    for (const [each, hints] of this.#hints) {
      for (const [store, { times }] of hints) {
        if ((each !== principal && store !== principal) || (times?.grantedMs ?? 0) > untilMs) continue;
        this.#set(each, store, { times: null, isLeft: false });
      }
    }
  }

  /** Changes a hint. Keeps none that says nothing. */
  #set(principal: StoreId, store: StoreId, changed: Partial<Hint>): void {
    const hints = this.#hints.get(principal) ?? new Map<StoreId, Hint>();
    const hint = { times: null, isLeft: false, ...hints.get(store), ...changed };
    if (hint.times || hint.isLeft) this.#hints.set(principal, hints.set(store, hint));
    else if (hints.delete(store) && hints.size === 0) this.#hints.delete(principal);
  }
}
