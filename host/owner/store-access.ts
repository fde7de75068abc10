/** Access to shared stores, as programs see and grant it. */
import type { AccessLevel, AccessSource } from "../../shared/shared-scope.ts";

/** A store that a user reaches. */
export interface ReachableStore {
  readonly id: string;
  readonly level: AccessLevel;
  /** Why: it is the user's own, was granted, or the program vouches for the user. */
  readonly source: AccessSource;
}

/** A grant of the user's own store. */
export interface GrantedAccess {
  /** The id of the grantee's own store. */
  readonly grantee: string;
  readonly level: AccessLevel;
  readonly grantedAt: Date;
  /** `null`: never. */
  readonly expiresAt: Date | null;
}

export interface NewGrant {
  /** Default: `read`. */
  readonly level?: AccessLevel | undefined;
  /** Default: never. */
  readonly expiresAt?: Date | undefined;
}
