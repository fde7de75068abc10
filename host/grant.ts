import type { Right } from "../shared/abi.ts";
import type { ManifestTool } from "../shared/manifest.ts";
import type { UserId } from "./user-id.ts";

/**
 * What one call may do: in whose folder, in which scopes of it, with which rights. Host functions are made from it for
 * that call alone; nothing in the guest can name another user.
 */
export interface Grant {
  readonly userId: UserId;
  readonly scopes: readonly string[];
  readonly rights: readonly Right[];
}

/** A tool gets what its manifest asks for, and no tool of the same plugin gets more. */
export function grantFor(tool: ManifestTool, userId: UserId): Grant {
  return { userId, scopes: tool.scopes, rights: tool.rights };
}
