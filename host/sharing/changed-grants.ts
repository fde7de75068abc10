import type { NewGrants } from "../store/engine.ts";
import { isLive } from "../store/grant-hints.ts";
import type { GrantChange, StoreGrant } from "../values/store-grant.ts";
import type { StoreId } from "../values/store-id.ts";
import { writeGrants } from "./grants-file.ts";

export interface ChangedGrants {
  readonly stored: NewGrants;
  readonly changes: readonly GrantChange[];
}

/**
 * What replacing the grants of a store stores, and whose access it changes. `before` are all grants in the file, so that
 * nothing is left of those that have ended.
 */
export function changedGrants(
  store: StoreId,
  before: readonly StoreGrant[],
  after: readonly StoreGrant[],
  nowMs: number,
): ChangedGrants {
  const granted = after.filter((each) => !before.some((other) => isSame(each, other)));
  const gone = before.filter((each) => !after.some(({ grantee }) => grantee === each.grantee));
  const revoked = gone.filter((each) => isLive(each, nowMs));
  const stored = { content: writeGrants(after), granted, revoked: gone.map(({ grantee }) => grantee), nowMs };
  const changes = [
    ...granted.map(({ grantee, level, expiresMs }) => ({ store, grantee, level, expiresMs })),
    ...revoked.map(({ grantee }) => ({ store, grantee, level: null, expiresMs: null })),
  ];
  return { stored, changes };
}

/** Grants are compared by value, because they have crossed a thread. */
const isSame = (a: StoreGrant, b: StoreGrant): boolean =>
  a.grantee === b.grantee && a.level === b.level && a.grantedMs === b.grantedMs && a.expiresMs === b.expiresMs;
