import type { Right } from "../../shared/abi.ts";
import type { DecidedStores } from "../values/decided-stores.ts";
import type { UserId } from "../values/user-id.ts";

/**
 * What one call may do: the user, the scopes of that user, and the rights. The host functions for this one call are
 * made from it; the guest has no way to name another user.
 */
export interface Grant {
  readonly userId: UserId;
  readonly scopes: readonly string[];
  readonly rights: readonly Right[];
  readonly limits: GrantLimits;
  /** Bytes of the scopes that the host frees when the call succeeds. The call can write as many more. */
  readonly freedBytes: number;
  /** Set if the tool has the scope `store:*`. Then the call reaches these stores, and no scope of the user's folder. */
  readonly stores?: DecidedStores;
}

const changing: ReadonlySet<Right> = new Set(["write", "trash", "grant_set"]);

/** Whether the call can change anything. */
export const canChange = ({ rights }: Grant): boolean => rights.some((right) => changing.has(right));

/** How much one call may use. */
export interface GrantLimits {
  readonly hostCalls: number;
  readonly stagedBytes: number;
  /** Each file that the guest reads gives it a call's fuel anew. */
  readonly refuels: boolean;
}
