/** Statements, and the homes that they are about. Each names its tenant, and the policies of the database check it. */
import { hash } from "node:crypto";

import { ownStoreOf } from "../../values/ids.ts";
import type { StoreId, UserId } from "../../values/ids.ts";
import type { StoreGrant } from "../../values/store-grant.ts";
import type { ErasedUser, FoundHome } from "../engine.ts";
import type { Home } from "../home.ts";

/** `Row`: what its rows have, if it returns any. */
export interface Statement<Row extends object = object> {
  readonly text: string;
  readonly values: unknown[];
  /** Never there: it only tells the type. */
  readonly row?: Row;
}

/** The rows of each of some statements. */
export type RowsOf<All extends readonly Statement[]> = {
  -readonly [At in keyof All]: All[At] extends Statement<infer Row> ? Row[] : never;
};

/** A statement whose values are sent apart from its text. */
export const sql = <Row extends object>(texts: TemplateStringsArray, ...values: unknown[]): Statement<Row> => ({
  text: texts.reduce((text, part, at) => `${text}$${at}${part}`),
  values,
});

/** SHA-256 in hexadecimal, as the database has it. */
export const bytesOf = (sha256: string | null): Buffer | null => (sha256 === null ? null : Buffer.from(sha256, "hex"));

/** One value of each item, for `unnest`; `null` of those that have none. */
export const column = <Item extends object, Name extends keyof Item>(
  items: readonly (Item | null | undefined)[],
  name: Name,
): (Item[Name] | null)[] => items.map((item) => item?.[name] ?? null);

/** Whoever lists acts for no tenant. */
export const nobody = "00000000-0000-0000-0000-000000000000" as StoreId;

/** One of the two homes of a tenant: a user's scopes, or the store with the tenant's id. */
export interface HomePlace {
  readonly tenant: StoreId;
  readonly kind: "user" | "store";
}

export function placeOf(home: Home): HomePlace {
  if (home.kind === "mount") throw new RangeError("A database has no mounted folders");
  return home.kind === "user" ? { tenant: ownStoreOf(home.id), kind: "user" } : { tenant: home.id, kind: "store" };
}

/** The key of a home's lock, a signed number of 64 bits in decimal. Two homes with the same key only wait for each other. */
export const lockOf = ({ tenant, kind }: HomePlace): string =>
  BigInt.asIntN(64, BigInt(`0x${hash("sha256", `memcell:${kind}:${tenant}`).slice(0, 16)}`)).toString();

type ListedHome = HomePlace & { readonly userId: UserId | null };

/** Of all tenants. */
export const listHomes = (): Statement<ListedHome> => sql`SELECT k.kind, h.tenant, h.user_id AS "userId"
  FROM unnest(ARRAY['user', 'store']) AS k (kind), memcell.list_homes(k.kind) AS h`;

/** The home of such a row; none if nobody has told whose it is. */
export function homeIn({ kind, tenant, userId }: ListedHome): FoundHome[] {
  if (kind === "user") return userId === null ? [] : [{ kind, id: userId }];
  return [{ kind, id: tenant, owner: userId }];
}

export const listErased = (): Statement<ErasedUser> =>
  sql`SELECT tenant AS store, id, erased_ms::float8 AS "erasedMs" FROM memcell.list_erased()`;

/** All versions of a home, the oldest first. */
export const listVersions = ({ tenant, kind }: HomePlace): Statement<{ line: string }> =>
  sql`SELECT line FROM memcell.changes, unnest(lines) WITH ORDINALITY AS l (line, at)
    WHERE tenant = ${tenant} AND kind = ${kind} ORDER BY commit_no, at`;

/** All grants of a store that are new or changed, and those whose grants have ended. */
export const setGrants = (
  store: StoreId,
  granted: readonly StoreGrant[],
  revoked: readonly StoreId[] = [],
): Statement => sql`SELECT memcell.set_grants(
    ${store}, ${granted.map(({ grantee }) => grantee)}, ${granted.map(({ level }) => level)},
    ${granted.map(({ grantedMs }) => Math.trunc(grantedMs))},
    ${granted.map(({ expiresMs }) => expiresMs && Math.trunc(expiresMs))}, ${revoked}
  )`;

/** What a principal leaves out, as records without text. */
export const leftBy = (principal: StoreId): Statement<{ name: string; bytes: number }> =>
  sql<{ name: string; bytes: number }>`
    SELECT store AS name, 0 AS bytes FROM memcell.left_stores WHERE tenant = ${principal} ORDER BY store`;

/** Notes what a principal leaves out, also without a grant. */
export const leaveStores = (principal: StoreId, stores: readonly StoreId[]): Statement =>
  sql`INSERT INTO memcell.left_stores (tenant, store)
    SELECT ${principal}::uuid, unnest(${stores}::uuid[]) ON CONFLICT DO NOTHING`;
