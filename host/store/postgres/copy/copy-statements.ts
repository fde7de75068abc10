/** What copies of whole homes ask besides, for a principal that acts. Each names its tenant, as in `statements.ts`. */
import type { StoreId } from "../../../values/store-id.ts";
import type { UserId } from "../../../values/user-id.ts";
import type { CopiedFile, CopiedRecord } from "../../copying.ts";
import type { FileOrigin } from "../../versions/present-origins.ts";
import type { VersionHead } from "../../versions/version.ts";
import type { HomePlace } from "../home-place.ts";
import { bytesOf } from "../statements.ts";
import type { Statement } from "../statements.ts";

/** A home, or records without one. */
export const wholeHome = ({ tenant, kind }: HomePlace): Statement => ({
  text: `SELECT h.user_id, h.scopes, h.unknown, h.aged_ms::float8 AS aged_ms, h.seq::float8 AS seq, h.hash,
      h.commits = 0 OR EXISTS (
        SELECT FROM memcell.changes c WHERE c.tenant = $1 AND c.kind = $2 AND c.commit_no = h.commits
      ) AS has_last
    FROM memcell.homes h WHERE h.tenant = $1 AND h.kind = $2`,
  values: [tenant, kind],
});

/** The hashes are those of the contents that are there, so that a copy can be compared by them. */
export const wholeFiles = ({ tenant, kind }: HomePlace): Statement => ({
  text: `SELECT f.scope, f.path, encode(sha256(c.content), 'hex') AS sha256, octet_length(c.content) AS bytes,
      f.changed_us::float8 AS changed_us, coalesce(f.written_us, f.changed_us)::float8 AS written_us,
      f.origin_seq::float8 AS origin_seq, encode(f.origin_sha256, 'hex') AS origin_sha256, f.origin_class, f.origin_trust,
      f.origin_ms::float8 AS origin_ms, f.origin_kind
    FROM memcell.files f JOIN memcell.contents c USING (tenant, kind, sha256)
    WHERE tenant = $1 AND kind = $2 ORDER BY f.scope, f.path`,
  values: [tenant, kind],
});

export const wholeHistory = ({ tenant, kind }: HomePlace): Statement => ({
  text: `SELECT encode(sha256(content), 'hex') AS sha256, octet_length(content) AS bytes FROM memcell.contents
    WHERE tenant = $1 AND kind = $2 AND is_kept ORDER BY commit_no, sha256`,
  values: [tenant, kind],
});

export const wholeRecords = (tenant: StoreId): Statement => ({
  text: "SELECT record_kind, name, body FROM memcell.records WHERE tenant = $1 ORDER BY record_kind, name",
  values: [tenant],
});

export const someContents = ({ tenant, kind }: HomePlace, hashes: readonly string[]): Statement => ({
  text: `SELECT encode(sha256, 'hex') AS sha256, content FROM memcell.contents
    WHERE tenant = $1 AND kind = $2 AND sha256 = ANY ($3::bytea[])`,
  values: [tenant, kind, hashes.map(bytesOf)],
});

export interface NewHome {
  readonly userId: UserId | null;
  readonly scopes: readonly string[];
  readonly commits: number;
  readonly changedUs: number;
  readonly head: VersionHead;
  readonly keptBytes: number;
  readonly agedMs: number;
  readonly unknown: string;
}

/** No row if there is one, or if the tenant has records. */
export const addHome = ({ tenant, kind }: HomePlace, home: NewHome): Statement => ({
  text: `INSERT INTO memcell.homes (
      tenant, kind, user_id, scopes, commits, changed_us, seq, hash, kept_bytes, aged_ms, unknown
    )
    SELECT $1::uuid, $2::text, $3::text, $4::text[], $5::bigint, $6::bigint, $7::bigint, $8::text, $9::bigint,
      $10::bigint, $11::text
    WHERE $2 = 'store' OR NOT EXISTS (SELECT FROM memcell.records WHERE tenant = $1)
    ON CONFLICT DO NOTHING RETURNING tenant`,
  values: [
    tenant,
    kind,
    home.userId,
    home.scopes,
    home.commits,
    home.changedUs,
    home.head.seq,
    home.head.hash,
    home.keptBytes,
    Math.trunc(home.agedMs),
    home.unknown,
  ],
});

export interface NewContent {
  readonly sha256: string;
  readonly content: Uint8Array;
  readonly commitNo: number;
  readonly isKept: boolean;
}

export const addContents = ({ tenant, kind }: HomePlace, contents: readonly NewContent[]): Statement => ({
  text: `INSERT INTO memcell.contents (tenant, kind, sha256, content, commit_no, is_kept)
    SELECT $1::uuid, $2::text, * FROM unnest($3::bytea[], $4::bytea[], $5::bigint[], $6::boolean[])`,
  values: [
    tenant,
    kind,
    contents.map(({ sha256 }) => bytesOf(sha256)),
    contents.map(({ content }) => Buffer.from(content)),
    contents.map(({ commitNo }) => commitNo),
    contents.map(({ isKept }) => isKept),
  ],
});

export interface NewFile {
  readonly file: CopiedFile;
  readonly origin: FileOrigin | null;
}

export const addFiles = ({ tenant, kind }: HomePlace, files: readonly NewFile[]): Statement => ({
  text: `INSERT INTO memcell.files (
      tenant, kind, scope, path, sha256, bytes, changed_us, written_us,
      origin_seq, origin_sha256, origin_class, origin_trust, origin_ms, origin_kind
    )
    SELECT $1::uuid, $2::text, * FROM unnest(
      $3::text[], $4::text[], $5::bytea[], $6::integer[], $7::bigint[], $8::bigint[],
      $9::bigint[], $10::bytea[], $11::text[], $12::text[], $13::bigint[], $14::text[]
    )`,
  values: [
    tenant,
    kind,
    files.map(({ file }) => file.scope),
    files.map(({ file }) => file.path),
    files.map(({ file }) => bytesOf(file.sha256)),
    files.map(({ file }) => file.bytes),
    files.map(({ file }) => file.changedUs),
    files.map(({ file }) => file.writtenUs),
    files.map(({ origin }) => origin?.seq ?? null),
    files.map(({ origin }) => origin && bytesOf(origin.sha256)),
    files.map(({ origin }) => origin?.class ?? null),
    files.map(({ origin }) => origin?.trust ?? null),
    files.map(({ origin }) => origin?.atMs ?? null),
    files.map(({ origin }) => origin?.kind ?? null),
  ],
});

/** A change set for each version, from a number on: nobody knows any more which were made together. */
export const addVersions = ({ tenant, kind }: HomePlace, lines: readonly string[], first: number): Statement => ({
  text: `INSERT INTO memcell.changes (tenant, kind, commit_no, id, lines)
    SELECT $1::uuid, $2::text, $4::bigint + at - 1, gen_random_uuid(), ARRAY[line]
    FROM unnest($3::text[]) WITH ORDINALITY AS l (line, at)`,
  values: [tenant, kind, lines, first],
});

/** The change set of a home that has no version. */
export const addFirstChange = ({ tenant, kind }: HomePlace): Statement => ({
  text: `INSERT INTO memcell.changes (tenant, kind, commit_no, id, lines)
    VALUES ($1, $2, 1, gen_random_uuid(), '{}')`,
  values: [tenant, kind],
});

export const addRecords = (tenant: StoreId, records: readonly CopiedRecord[]): Statement => ({
  text: `INSERT INTO memcell.records (tenant, record_kind, name, body)
    SELECT $1::uuid, * FROM unnest($2::text[], $3::text[], $4::text[])`,
  values: [tenant, records.map(({ kind }) => kind), records.map(({ name }) => name), records.map(({ text }) => text)],
});

export const listLeaving = (): Statement => ({ text: "SELECT tenant FROM memcell.list_leaving()", values: [] });

export const listLeft = (tenant: StoreId): Statement => ({
  text: "SELECT store FROM memcell.left_stores WHERE tenant = $1 ORDER BY store",
  values: [tenant],
});

export const addLeft = (tenant: StoreId, stores: readonly StoreId[]): Statement => ({
  text: "INSERT INTO memcell.left_stores (tenant, store) SELECT $1::uuid, unnest($2::uuid[]) ON CONFLICT DO NOTHING",
  values: [tenant, stores],
});
