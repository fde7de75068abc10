import type { Right } from "../../shared/abi.ts";
import type { ManifestTool } from "../../shared/manifest.ts";
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

/**
 * A tool gets what its manifest asks for, and no tool of the same plugin gets more. That the policy allows as much was
 * seen when the plugin was loaded.
 */
export function grantFor(tool: ManifestTool, userId: UserId, { hostCalls, stagedBytes }: GrantLimits): Grant {
  return { userId, scopes: tool.scopes, rights: tool.rights, limits: { hostCalls, stagedBytes } };
}
