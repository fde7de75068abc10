import type { AccessLevel } from "../../shared/shared-scope.ts";
import type { StoreId } from "./store-id.ts";

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
