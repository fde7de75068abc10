import type { AccessLevel, AccessSource } from "../../shared/shared-scope.ts";
import type { StoreId } from "./ids.ts";

/** What the owner of a shared store has granted to one other user. */
export interface StoreGrant {
  /** The own store of the grantee. */
  readonly grantee: StoreId;
  readonly level: AccessLevel;
  readonly grantedMs: number;
  /** `null`: never. */
  readonly expiresMs: number | null;
}

/** A grantee's new access to a store. */
export interface GrantChange extends Omit<StoreGrant, "level" | "grantedMs"> {
  readonly store: StoreId;
  /** `null`: revoked. */
  readonly level: AccessLevel | null;
}

/**
 * The shared stores about which the host has decided for one run of a guest. A request that names another store makes
 * the host decide about it and run the guest again.
 */
export interface DecidedStores {
  /** The user's own store. */
  readonly own: StoreId;
  /** In the order of `grant_list`. */
  readonly stores: readonly DecidedStore[];
  /** Whether all stores that the user reaches are among them. */
  readonly isComplete: boolean;
  /** The live grants of the user's own store; `null` if they cannot be read. */
  readonly grants: readonly StoreGrant[] | null;
}

export interface DecidedStore {
  readonly id: StoreId;
  /** `null`, as is `source`, if the user does not reach it. */
  readonly level: AccessLevel | null;
  readonly source: AccessSource | null;
}
