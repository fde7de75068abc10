import type { Right } from "../../shared/abi.ts";
import type { UserId } from "../values/user-id.ts";

/**
 * What one call may do: in whose folder, in which scopes of it, with which rights. Host functions are made from it for
 * that call alone; nothing in the guest can name another user.
 */
export interface Grant {
  readonly userId: UserId;
  readonly scopes: readonly string[];
  readonly rights: readonly Right[];
  readonly limits: GrantLimits;
}

/** How much of it. */
export interface GrantLimits {
  readonly hostCalls: number;
  readonly stagedBytes: number;
}
