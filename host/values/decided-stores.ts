import type { AccessLevel, AccessSource } from "../../shared/shared-scope.ts";
import type { StoreGrant } from "./store-grant.ts";
import type { StoreId } from "./store-id.ts";

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
