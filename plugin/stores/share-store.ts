/** The commands `stores`, `share` and `unshare`. Only a store's owner grants access to it, and revokes it. */
import { isStoreId, ownStoreScope, scopeOfStore } from "../../shared/shared-scope.ts";
import type { AccessLevel, AccessSource } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";
import { accessTo, now, reachedStores, setGrant } from "../kit/capabilities.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import type { Changed } from "./change-entry.ts";
import { parsePath } from "./memory-path.ts";
import { required } from "./required.ts";
import type { ShareInput } from "./schemas.ts";

export interface ListedStores {
  readonly stores: readonly { readonly storeId: string; readonly level: AccessLevel; readonly source: AccessSource }[];
}

export function listStores(): Answer<ListedStores> {
  const stores = reachedStores().flatMap(({ store: storeId, level, source }) =>
    level === null || source === null ? [] : [{ storeId, level, source }],
  );
  return {
    message: stores.map(({ storeId, level, source }) => `${storeId} ${level} (${source})`).join("\n"),
    data: { stores },
  };
}

const ok: Answer<Changed> = { message: "OK", data: {} };

export function shareStore({ path, agent, level = "read", ttl }: ShareInput): Answer<Changed> {
  const grantee = granteeIn(path, agent, "share");
  const expiresMs = ttl === undefined ? null : Date.parse(now()) + ttl * 1000;
  setGrant({ grantee, level, expiresMs });
  return ok;
}

export function unshareStore({ path, agent }: Omit<ShareInput, "level" | "ttl">): Answer<Changed> {
  const grantee = granteeIn(path, agent, "unshare");
  if (setGrant({ grantee, level: null }) !== null) return ok;
  throw new ToolError("ENTRY_NOT_FOUND", `Cannot unshare the store: ${grantee} has no grant`);
}

/** Throws unless the store is the caller's own and the grantee is somebody else. */
function granteeIn(path: string | undefined, agent: string | undefined, command: "share" | "unshare"): string {
  const grantee = required(agent, "agent", `agent is required for ${command}`);
  const own = accessTo(ownStoreScope);
  const store = path === undefined ? null : parsePath(path).store;
  if (store !== null && store !== own.store) {
    // Asked first, so that the answer is the same whether or not the store exists.
    accessTo(scopeOfStore(store));
    throw new ToolError("ACCESS_DENIED", `Cannot ${command} this store: only its owner can`);
  }
  const allowed = "the id of another agent's store, a UUID in lower case";
  if (isStoreId(grantee) && grantee !== own.store) return grantee;
  const issues = [{ field: "agent", value: quoted(grantee), allowed }];
  throw new ToolError(
    "INPUT_INVALID",
    `Cannot ${command} the store: agent is ${quoted(grantee)}, allowed: ${allowed}`,
    issues,
  );
}
