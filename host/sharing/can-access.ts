import type { AccessLevel, AccessSource } from "../../shared/shared-scope.ts";
import { isLive } from "../store/grant-hints.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import type { StoreId } from "../values/store-id.ts";

/** What the decision about one store is based on. */
export interface AccessFacts {
  /** The own store of the caller: by this id the caller is known to others. */
  readonly principal: StoreId;
  readonly store: StoreId;
  /** All grants of the store. */
  readonly grants: readonly StoreGrant[];
  /** Returns what the embedding program vouches for; `null` for nothing. */
  readonly vouched: () => Access | null;
  readonly nowMs: number;
}

export interface Access {
  readonly level: AccessLevel;
  readonly source: AccessSource;
}

/**
 * Decides whether a caller reaches a shared store, and how far; `null` if not. The only place that does.
 *
 * In this order: the caller's own store; a live grant, with its level, even where the program vouches for more; what
 * the program vouches for. Everything else is denied.
 */
export function canAccess(facts: AccessFacts): Access | null {
  const { principal, store, grants, vouched, nowMs } = facts;
  if (store === principal) return { level: "readwrite", source: "self" };
  const grant = grants.find((each) => each.grantee === principal && isLive(each, nowMs));
  if (grant !== undefined) return { level: grant.level, source: "grant" };
  return vouched();
}
