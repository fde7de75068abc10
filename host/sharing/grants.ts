/** Grants of a shared store: the file that has them, `.memcell/grants.json`, which only the host writes, and whom they let in. */
import { sharingLimits } from "../../shared/limits.ts";
import { accessLevels } from "../../shared/shared-scope.ts";
import type { AccessLevel, AccessSource } from "../../shared/shared-scope.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import type { NewGrants } from "../store/engine.ts";
import { isLive } from "../store/grant-hints.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { isStoreId } from "../values/ids.ts";
import type { StoreId } from "../values/ids.ts";
import type { GrantChange, StoreGrant } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";

const storeId = z.string().check(z.refine((text) => isStoreId(text))) as unknown as z.ZodMiniType<StoreId>;
const time = z.int().check(z.nonnegative());
const grant = z.strictObject({
  grantee: storeId,
  level: z.enum(accessLevels),
  grantedMs: time,
  expiresMs: z.nullable(time),
});
const fileSchema = z.strictObject({
  version: z.literal(1),
  grants: z.array(grant).check(z.maxLength(sharingLimits.grantsMax)),
});
const jsonDepthMax = 3;

/**
 * The grants in a file's bytes; none if there is no file. Throws `STORAGE_UNSAFE` for a file that no host has written:
 * then nobody but the owner reaches the store.
 */
export function readGrants(bytes: Uint8Array | null): readonly StoreGrant[] {
  if (bytes === null) return [];
  const grants = z.safeParse(fileSchema, valueIn(bytes)).data?.grants;
  if (grants !== undefined && new Set(grants.map(({ grantee }) => grantee)).size === grants.length) return grants;
  const message = "Cannot use the store: the file with its grants is not what a host writes";
  throw new ToolError("STORAGE_UNSAFE", message);
}

/** `undefined` if it is no strict JSON. */
function valueIn(bytes: Uint8Array): unknown {
  try {
    return parseStrictJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), jsonDepthMax);
  } catch {
    return undefined;
  }
}

/** The grants of a held store. Throws as `readGrants`. */
export const grantsIn = async (held: HeldHome): Promise<readonly StoreGrant[]> => readGrants(await held.grants());

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
  const content = `${JSON.stringify({ version: 1, grants: after }, null, 2)}\n`;
  return {
    stored: { content, granted, revoked: gone.map(({ grantee }) => grantee), nowMs },
    changes: [
      ...granted.map(({ grantee, level, expiresMs }) => ({ store, grantee, level, expiresMs })),
      ...revoked.map(({ grantee }) => ({ store, grantee, level: null, expiresMs: null })),
    ],
  };
}

/** Grants are compared by value, because they have crossed a thread. */
const isSame = (a: StoreGrant, b: StoreGrant): boolean =>
  a.grantee === b.grantee && a.level === b.level && a.grantedMs === b.grantedMs && a.expiresMs === b.expiresMs;

export interface Access {
  readonly level: AccessLevel;
  readonly source: AccessSource;
}

/** What the decision about one store is based on. */
export interface AccessFacts {
  /** The own store of the caller: by this id the caller is known to others. */
  readonly principal: StoreId;
  readonly store: StoreId;
  /** All grants of the store. */
  readonly grants: readonly StoreGrant[];
  /** Returns what the embedding program vouches for; `null` for nothing. */
  readonly vouched: () => Access | null;
  readonly nowMs: number;
}

/**
 * Decides whether a caller reaches a shared store, and how far; `null` if not. The only place that does.
 *
 * In this order: the caller's own store; a live grant, with its level, even where the program vouches for more; what
 * the program vouches for. Everything else is denied.
 */
export function canAccess({ principal, store, grants, vouched, nowMs }: AccessFacts): Access | null {
  if (store === principal) return { level: "readwrite", source: "self" };
  const live = grants.find((each) => each.grantee === principal && isLive(each, nowMs));
  return live === undefined ? vouched() : { level: live.level, source: "grant" };
}
