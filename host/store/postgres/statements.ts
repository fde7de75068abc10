/** Every statement that the store can issue. Each names its tenant, and the policies of the database check it. */
import type { EndSignal } from "../../values/call-ending.ts";
import type { Seen } from "../../values/change-set.ts";
import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { UserId } from "../../values/user-id.ts";
import type { FoundHome, NewGrants } from "../engine.ts";
import type { ActingPrincipal } from "../home.ts";
import { loweredRunsMax } from "../versions/lowered-runs.ts";
import type { FileOrigin } from "../versions/present-origins.ts";
import type { VersionHead } from "../versions/version.ts";
import { lockOf } from "./home-place.ts";
import type { HomePlace } from "./home-place.ts";

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Bytes and lists are cast where they are read. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

interface Place {
  readonly scope: string;
  readonly path: string;
}

/** For whom the database works, and what it locks meanwhile. */
export interface Acting {
  readonly who: StoreId;
  readonly vouched?: ActingPrincipal["vouched"];
  /** Keys of locks, in the order in which they are taken. */
  readonly locks: readonly string[];
  /** Whether all reads see the same moment, and nothing is written. */
  readonly isReadOnly: boolean;
  /** When to give up waiting for locks, on the clock of `performance.now()`. */
  readonly until: number;
  readonly signal?: EndSignal | undefined;
}

/** Whoever lists acts for no tenant. */
export const nobody = "00000000-0000-0000-0000-000000000000" as StoreId;

export function enter(
  { who, vouched = [], locks, until }: Acting,
  { isRelaxed, nowMs }: { readonly isRelaxed: boolean; readonly nowMs: number },
): Statement {
  const written = vouched.filter(({ level }) => level === "readwrite");
  const lockMs = Math.max(1, Math.min(2 ** 31 - 1, Math.ceil(until - performance.now())));
  return {
    text: "SELECT memcell.enter($1, $2, $3, $4, $5, $6, $7)",
    values: [who, Math.trunc(nowMs), isRelaxed, idsOf(vouched), idsOf(written), locks, lockMs],
  };
}

const idsOf = (stores: readonly { readonly id: StoreId }[]): StoreId[] => stores.map(({ id }) => id);

export const homeFacts = ({ tenant, kind }: HomePlace): Statement => ({
  text: "SELECT * FROM memcell.home_facts($1, $2)",
  values: [tenant, kind],
});

/** `scopes`: `null` for all. */
export const firstFiles = (
  { tenant, kind }: HomePlace,
  {
    scopes,
    filesMax,
    bytesMax,
  }: { readonly scopes: readonly string[] | null; readonly filesMax: number; readonly bytesMax: number },
): Statement => ({
  text: "SELECT * FROM memcell.first_files($1, $2, $3, $4, $5)",
  values: [tenant, kind, scopes, filesMax, bytesMax],
});

export const findFiles = ({ tenant, kind }: HomePlace, places: readonly Place[], withContents: boolean): Statement => ({
  text: "SELECT * FROM memcell.find_files($1, $2, $3, $4, $5)",
  values: [tenant, kind, places.map(({ scope }) => scope), places.map(({ path }) => path), withContents],
});

/** With those in the trash. */
export const listFiles = ({ tenant, kind }: HomePlace, scope: string, prefix: string): Statement => ({
  text: `SELECT path, bytes, changed_us::float8 AS changed_us FROM memcell.files
    WHERE tenant = $1 AND kind = $2 AND scope = $3 AND starts_with(path, $4)`,
  values: [tenant, kind, scope, prefix],
});

export const measureScope = ({ tenant, kind }: HomePlace, scope: string): Statement => ({
  text: `SELECT starts_with(path, 'trash/') AS is_trash, count(*)::float8 AS files, sum(bytes)::float8 AS bytes
    FROM memcell.files WHERE tenant = $1 AND kind = $2 AND scope = $3 GROUP BY 1`,
  values: [tenant, kind, scope],
});

export const listOrigins = ({ tenant, kind }: HomePlace): Statement => ({
  text: `SELECT scope, path, origin_seq::float8 AS origin_seq, encode(origin_sha256, 'hex') AS origin_sha256,
      origin_class, origin_trust, origin_ms::float8 AS origin_ms, origin_kind
    FROM memcell.files WHERE tenant = $1 AND kind = $2 AND origin_seq IS NOT NULL`,
  values: [tenant, kind],
});

export const listVersions = ({ tenant, kind }: HomePlace): Statement => ({
  text: `SELECT line FROM memcell.changes, unnest(lines) WITH ORDINALITY AS l (line, at)
    WHERE tenant = $1 AND kind = $2 ORDER BY commit_no, at`,
  values: [tenant, kind],
});

export const keptContents = ({ tenant, kind }: HomePlace, hashes: readonly string[]): Statement => ({
  text: `SELECT encode(sha256, 'hex') AS sha256, content FROM memcell.contents
    WHERE tenant = $1 AND kind = $2 AND sha256 = ANY ($3::bytea[]) AND is_kept`,
  values: [tenant, kind, hashes.map(bytesOf)],
});

export const countChanges = ({ tenant, kind }: HomePlace): Statement => ({
  text: `SELECT count(*)::float8 AS changes FROM memcell.changes WHERE tenant = $1 AND kind = $2 HAVING count(*) > 0`,
  values: [tenant, kind],
});

/** Contents that are not what their hashes say, and the files that have them. */
export const listDamaged = ({ tenant, kind }: HomePlace): Statement => ({
  text: `SELECT f.scope, f.path FROM memcell.contents c LEFT JOIN memcell.files f USING (tenant, kind, sha256)
    WHERE c.tenant = $1 AND c.kind = $2 AND pg_catalog.sha256(c.content) <> c.sha256 ORDER BY f.scope, f.path`,
  values: [tenant, kind],
});

export const acceptEdits = ({ tenant, kind }: HomePlace): Statement => ({
  text: "SELECT memcell.accept_edits($1, $2)",
  values: [tenant, kind],
});

/** By which process old contents were last looked for, and how long it had been running. */
export const agedBy = ({ tenant, kind }: HomePlace): Statement => ({
  text: "SELECT aged_by FROM memcell.homes WHERE tenant = $1 AND kind = $2",
  values: [tenant, kind],
});

export const noteAgedBy = ({ tenant, kind }: HomePlace, by: string): Statement => ({
  text: "UPDATE memcell.homes SET aged_by = $3 WHERE tenant = $1 AND kind = $2",
  values: [tenant, kind, by],
});

/** The last versions that say that a run is trusted less; the last first. */
export const listLowered = ({ tenant, kind }: HomePlace): Statement => ({
  text: `SELECT lines[1] AS line FROM memcell.changes
    WHERE tenant = $1 AND kind = $2 AND is_lowering ORDER BY commit_no DESC LIMIT ${loweredRunsMax}`,
  values: [tenant, kind],
});

/** A file as it is after the change set. */
export interface PutFile {
  readonly scope: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** `null` if the home has the content. */
  readonly content: Buffer | null;
  /** `null` if no version says where it comes from. */
  readonly origin: FileOrigin | null;
}

export interface DatabaseChange {
  readonly id: string;
  readonly userId: string | null;
  /** What it is based on. */
  readonly seen: readonly Seen[];
  readonly gone: readonly { readonly scope: string; readonly path: string }[];
  readonly put: readonly PutFile[];
  /** Contents that the history shall not keep, by their hashes. */
  readonly forgotten: readonly string[];
  readonly lines: readonly string[];
  /** The history's end after it; `null` if it does not change. */
  readonly head: VersionHead | null;
  /** When old contents were looked for; `null` if they were not. */
  readonly agedMs: number | null;
  readonly keptBytesMax: number;
}

export function commitChange({ tenant, kind }: HomePlace, change: DatabaseChange): Statement {
  const { seen, gone, put } = change;
  const values = [
    [tenant, kind, change.userId, change.id, nowUs()],
    [column(seen, "scope"), column(seen, "path"), seen.map(({ digest }) => bytesOf(digest))],
    [column(gone, "scope"), column(gone, "path")],
    [column(put, "scope"), column(put, "path"), put.map(({ sha256 }) => bytesOf(sha256)), column(put, "bytes")],
    [ofOrigins(put, "seq"), ofOrigins(put, "class"), ofOrigins(put, "trust"), ofOrigins(put, "atMs")],
    [ofOrigins(put, "kind"), column(put, "content"), change.forgotten.map(bytesOf)],
    [change.lines, change.head?.seq ?? null, change.head?.hash ?? null, change.agedMs, change.keptBytesMax],
  ].flat();
  return { text: `SELECT memcell.commit_change(${values.map((_, at) => `$${at + 1}`).join(", ")})`, values };
}

const column = <Item, Name extends keyof Item>(items: readonly Item[], name: Name): Item[Name][] =>
  items.map((item) => item[name]);

const ofOrigins = (put: readonly PutFile[], name: keyof FileOrigin): unknown[] =>
  put.map(({ origin }) => origin?.[name] ?? null);

export const bytesOf = (sha256: string | null): Buffer | null => (sha256 === null ? null : Buffer.from(sha256, "hex"));

const nowUs = (): number => Math.round((performance.timeOrigin + performance.now()) * 1_000);

export const findChange = ({ tenant, kind }: HomePlace, id: string, after: number): Statement => ({
  text: "SELECT FROM memcell.changes WHERE tenant = $1 AND kind = $2 AND commit_no > $3 AND id = $4",
  values: [tenant, kind, after, id],
});

export const homeVersion = ({ tenant, kind }: HomePlace): Statement => ({
  text: "SELECT born || ':' || commits AS version FROM memcell.homes WHERE tenant = $1 AND kind = $2",
  values: [tenant, kind],
});

/** Throws `MC001` if one of the stores has another version. */
export const refuseChanged = (versions: ReadonlyMap<HomePlace, string>): Statement => ({
  text: "SELECT memcell.refuse_changed($1, $2, $3)",
  values: [
    Array.from(versions.keys(), ({ tenant }) => tenant),
    [...versions.values()],
    Array.from(versions.keys(), lockOf).toSorted(),
  ],
});

/** Keeps others from changing a home until the commit. */
export const keepHome = (place: HomePlace): Statement => ({
  text: "SELECT pg_advisory_xact_lock_shared($1)",
  values: [lockOf(place)],
});

export const nameRecords = (tenant: StoreId, kind: string): Statement => ({
  text: "SELECT name, octet_length(body) AS bytes FROM memcell.records WHERE tenant = $1 AND record_kind = $2 ORDER BY name",
  values: [tenant, kind],
});

export const readRecord = (tenant: StoreId, kind: string, name: string): Statement => ({
  text: "SELECT body FROM memcell.records WHERE tenant = $1 AND record_kind = $2 AND name = $3",
  values: [tenant, kind, name],
});

export const writeRecord = (tenant: StoreId, kind: string, name: string, body: string): Statement => ({
  text: `INSERT INTO memcell.records (tenant, record_kind, name, body) VALUES ($1, $2, $3, $4)
    ON CONFLICT (tenant, record_kind, name) DO UPDATE SET body = excluded.body`,
  values: [tenant, kind, name, body],
});

/** A user who has only records has a home, too. */
export const nameHome = ({ tenant, kind }: HomePlace, userId: string): Statement => ({
  text: "INSERT INTO memcell.homes (tenant, kind, user_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
  values: [tenant, kind, userId],
});

export const removeRecord = (tenant: StoreId, kind: string, name: string): Statement => ({
  text: "DELETE FROM memcell.records WHERE tenant = $1 AND record_kind = $2 AND name = $3",
  values: [tenant, kind, name],
});

/** A row if all records are like this; the text of one that is not there is `null`. */
export const areRecords = (
  tenant: StoreId,
  records: readonly { readonly kind: string; readonly name: string; readonly text: string | null }[],
): Statement => ({
  text: `SELECT WHERE NOT EXISTS (
      SELECT FROM unnest($2::text[], $3::text[], $4::text[]) AS w (record_kind, name, body)
      LEFT JOIN memcell.records r ON r.tenant = $1 AND r.record_kind = w.record_kind AND r.name = w.name
      WHERE r.body IS DISTINCT FROM w.body
    )`,
  values: [tenant, records.map(({ kind }) => kind), records.map(({ name }) => name), records.map(({ text }) => text)],
});

/** Of all tenants. */
export const listHomes = (): Statement => ({
  text: `SELECT k.kind, h.tenant, h.user_id
    FROM unnest(ARRAY['user', 'store']) AS k (kind), memcell.list_homes(k.kind) AS h`,
  values: [],
});

/** The home of such a row; none if nobody has told whose it is. */
export function homeIn({ kind, tenant, user_id: userId }: Row): FoundHome[] {
  if (kind === "user") return userId === null ? [] : [{ kind, id: userId as UserId }];
  const byItsId = tenant as UserId;
  const owner = ownStoreOf(byItsId) === (tenant as StoreId) ? byItsId : (userId as UserId | null);
  return [{ kind: "store", id: tenant as StoreId, owner }];
}

export const listErased = (): Statement => ({
  text: "SELECT tenant, id, erased_ms::float8 AS erased_ms FROM memcell.list_erased()",
  values: [],
});

export const erase = (id: string, atMs: number): Statement => ({
  text: "SELECT memcell.erase($1, $2)",
  values: [id, atMs],
});

export const forgetErased = (tenant: StoreId, id: string): Statement => ({
  text: "DELETE FROM memcell.erased WHERE tenant = $1 AND id = $2",
  values: [tenant, id],
});

export const isErased = (tenant: StoreId, id: string): Statement => ({
  text: "SELECT FROM memcell.erased WHERE tenant = $1 AND id = $2",
  values: [tenant, id],
});

/** The grants to a principal that acts, and whether it leaves the stores out. */
export const listHints = (principal: StoreId): Statement => ({
  text: `SELECT g.tenant AS store, g.granted_ms::float8 AS granted_ms, g.expires_ms::float8 AS expires_ms,
      EXISTS (SELECT FROM memcell.left_stores l WHERE l.tenant = $1 AND l.store = g.tenant) AS is_left
    FROM memcell.grants g WHERE g.grantee = $1`,
  values: [principal],
});

export const leaveStore = (principal: StoreId, store: StoreId): Statement => ({
  text: `INSERT INTO memcell.left_stores (tenant, store)
    SELECT $1, $2 WHERE EXISTS (SELECT FROM memcell.grants g WHERE g.tenant = $2 AND g.grantee = $1)
    ON CONFLICT DO NOTHING RETURNING store`,
  values: [principal, store],
});

export const comeBack = (principal: StoreId, store: StoreId): Statement => ({
  text: "DELETE FROM memcell.left_stores WHERE tenant = $1 AND store = $2 RETURNING store",
  values: [principal, store],
});

export const countGrants = (grantee: StoreId, butFor: StoreId, nowMs: number): Statement => ({
  text: "SELECT memcell.count_grants($1, $2, $3)::float8 AS grants",
  values: [grantee, butFor, Math.trunc(nowMs)],
});

export const setGrants = (store: StoreId, { granted, revoked = [] }: NewGrants): Statement => ({
  text: "SELECT memcell.set_grants($1, $2, $3, $4, $5, $6)",
  values: [
    store,
    granted.map(({ grantee }) => grantee),
    granted.map(({ level }) => level),
    granted.map(({ grantedMs }) => Math.trunc(grantedMs)),
    granted.map(({ expiresMs }) => expiresMs && Math.trunc(expiresMs)),
    revoked,
  ],
});

/** Of the principal that acts. */
export const forgetGrants = (untilMs: number): Statement => ({
  text: "SELECT memcell.forget_grants($1)",
  values: [Math.trunc(untilMs)],
});

/** The versions of tenants' homes together. */
export const homeVersions = (tenants: readonly StoreId[]): Statement => ({
  text: "SELECT tenant, version FROM memcell.home_versions($1)",
  values: [tenants],
});

/** Tells all who listen. It is lost if the server stops at once, and nobody waits for the disk. */
export const tellChanged = (channel: string, texts: readonly string[]): Statement => ({
  text: `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, t.text) FROM unnest($2::text[]) AS t (text)`,
  values: [channel, texts],
});
