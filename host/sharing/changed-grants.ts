import type { NewGrants } from "../store/shared-stores.ts";
import type { GrantChange, StoreGrant } from "../values/store-grant.ts";
import type { StoreId } from "../values/store-id.ts";
import { writeGrants } from "./grants-file.ts";

export interface ChangedGrants {
  readonly stored: NewGrants;
  readonly changes: readonly GrantChange[];
}

/** What replacing the grants of a store stores, and whose access it changes. */
export function changedGrants(
  store: StoreId,
  before: readonly StoreGrant[],
  after: readonly StoreGrant[],
): ChangedGrants {
  const granted = after.filter((each) => !before.some((other) => isSame(each, other)));
  const revoked = before.filter((each) => !after.some(({ grantee }) => grantee === each.grantee));
  const stored = {
    content: writeGrants(after),
    grantees: after.map(({ grantee }) => grantee),
    revoked: revoked.map(({ grantee }) => grantee),
  };
  const changes = [
    ...granted.map(({ grantee, level, expiresMs }) => ({ store, grantee, level, expiresMs })),
    ...revoked.map(({ grantee }) => ({ store, grantee, level: null, expiresMs: null })),
  ];
  return { stored, changes };
}

/** Grants are compared by value, because they have crossed a thread. */
const isSame = (a: StoreGrant, b: StoreGrant): boolean =>
  a.grantee === b.grantee && a.level === b.level && a.grantedMs === b.grantedMs && a.expiresMs === b.expiresMs;
