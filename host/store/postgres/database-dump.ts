/** Reads and writes whole homes of a database, for copies in another place. */
import { ownStoreOf } from "../../values/ids.ts";
import type { UserId } from "../../values/ids.ts";
import type { StoreGrant } from "../../values/store-grant.ts";
import { ToolError } from "../../values/tool-error.ts";
import { inTurns } from "../../values/turns.ts";
import { inBatches } from "../home-dump.ts";
import type { HomeDump, HomePiece } from "../home-dump.ts";
import { isOfEntries } from "../home.ts";
import type { Home, RecordKind } from "../home.ts";
import { digestOf } from "../reading.ts";
import { faultInHistory, lostTrust, noVersion, parseLine, readLine } from "../versions/version.ts";
import { originOf } from "./database-home.ts";
import type { DatabaseHome, OriginRow } from "./database-home.ts";
import { changeRecord } from "./planned-commit.ts";
import { bytesOf, column, setGrants, sql } from "./statement.ts";
import type { HomePlace, Statement } from "./statement.ts";

type FileRow = OriginRow & { sha256: string; bytes: number; changedUs: number; writtenUs: number };
/** A version's line, or the hash of a content that the history keeps. */
type HistoryRow = { line: string; sha256: null; bytes: number } | { line: null; sha256: string; bytes: number };

/** `null` if there is none. */
export async function dumpHome(home: DatabaseHome): Promise<HomeDump | null> {
  const { transaction, place, facts } = home;
  const { tenant, kind } = place;
  const [[named], files, history, records] = await transaction.ask(
    sql<{ userId: UserId | null } & Partial<Pick<HomeDump, "unknown">>>`
      SELECT user_id AS "userId", unknown FROM memcell.homes WHERE tenant = ${tenant} AND kind = ${kind}`,
    sql<FileRow>`
      SELECT scope, path, encode(sha256, 'hex') AS sha256, bytes, changed_us::float8 AS "changedUs",
        coalesce(written_us, changed_us)::float8 AS "writtenUs", origin_seq::float8 AS origin_seq,
        encode(origin_sha256, 'hex') AS origin_sha256, origin_class, origin_trust, origin_ms::float8 AS origin_ms, origin_kind
      FROM memcell.files WHERE tenant = ${tenant} AND kind = ${kind} ORDER BY changed_us, scope, path`,
    // The contents that a change set has brought come behind its versions.
    sql<HistoryRow>`
      SELECT line, NULL AS sha256, octet_length(line) AS bytes, commit_no, at
      FROM memcell.changes, unnest(lines) WITH ORDINALITY AS l (line, at) WHERE tenant = ${tenant} AND kind = ${kind}
      UNION ALL SELECT NULL, encode(sha256, 'hex'), octet_length(content), commit_no, NULL
      FROM memcell.contents WHERE tenant = ${tenant} AND kind = ${kind} AND is_kept ORDER BY commit_no, at, sha256`,
    sql<{ of: RecordKind; name: string; text: string; bytes: number }>`
      SELECT record_kind AS of, name, body AS text, octet_length(body) AS bytes FROM memcell.records
      WHERE tenant = ${tenant} AND ${kind}::text = 'user'`,
  );
  if (named === undefined) return null;
  const { userId, unknown } = named;
  const lines = history.flatMap(({ line }) => line ?? []);
  // A history that somebody has changed says nothing: no file keeps any trust.
  const isBroken = facts.isBroken || (await inTurns(faultInHistory(lines, facts.head))) !== null;
  // If every file is as a version says, whatever comes later by hand is an edit of the owner's.
  const areKnown = files.every((file) => !isOfEntries(kind, file.scope) || file.sha256 === file.origin_sha256);
  async function* pieces(): AsyncGenerator<HomePiece> {
    for await (const file of withContents(home, files)) yield { kind: "file", ...file, origin: originOf(file) };
    for await (const { line, sha256, content, bytes } of withContents(home, history)) {
      if (line === null) yield { kind: "kept", sha256, content, bytes };
      else if (parseLine(line) !== null) yield { kind: "version", line, bytes };
    }
    for (const record of records) yield { kind: "record", ...record };
  }
  return {
    scopes: kind === "user" ? facts.scopes : [],
    unknown: isBroken ? lostTrust : (unknown ?? (areKnown ? "owner_edit" : "unstated")),
    agedMs: facts.agedMs,
    // As a folder records it: nobody's id but the owner's, whatever the database says.
    creator: kind === "store" && userId !== null && ownStoreOf(userId) === tenant ? userId : null,
    pieces: pieces(),
  };
}

/** What one statement brings. */
const bounds = { itemsMax: 1_000, bytesMax: 8 * 1024 * 1024 };

/** Rows with their contents; without a hash, with an empty one. Throws `STORAGE_FAILED` if one is missing. */
async function* withContents<Row extends { readonly sha256: string | null; readonly bytes: number }>(
  { transaction, place: { tenant, kind } }: DatabaseHome,
  rows: readonly Row[],
): AsyncGenerator<Row & { readonly content: Buffer }> {
  for await (const batch of inBatches(rows, bounds)) {
    const [found] = await transaction.ask(sql<{ sha256: string; content: Buffer }>`
      SELECT encode(sha256, 'hex') AS sha256, content FROM memcell.contents
      WHERE tenant = ${tenant} AND kind = ${kind} AND sha256 = ANY (${column(batch, "sha256").map(bytesOf)}::bytea[])`);
    const contents = new Map<string | null, Buffer>(found.map(({ sha256, content }) => [sha256, content]));
    for (const row of batch) {
      const content = contents.get(row.sha256) ?? null;
      if (digestOf(content) !== row.sha256) throw new ToolError("STORAGE_FAILED", "Cannot copy: a content is missing");
      yield { ...row, content: content ?? Buffer.alloc(0) };
    }
  }
}

/** In a transaction that holds the home, which this commits. Returns `false` if there is one. */
export async function loadHome(
  at: DatabaseHome,
  home: Home,
  dump: HomeDump,
  grants: () => readonly StoreGrant[],
): Promise<boolean> {
  const { transaction, place } = at;
  const { tenant, kind } = place;
  const userId = home.kind === "user" ? home.id : dump.creator;
  const [added] = await transaction.ask(sql`
    INSERT INTO memcell.homes (tenant, kind, user_id, scopes, aged_ms, unknown)
    SELECT ${tenant}::uuid, ${kind}::text, ${userId}::text, ${dump.scopes}::text[], ${Math.trunc(dump.agedMs)}::bigint,
      ${dump.unknown}::text
    WHERE ${kind}::text = 'store' OR NOT EXISTS (SELECT FROM memcell.records WHERE tenant = ${tenant})
    ON CONFLICT DO NOTHING RETURNING tenant`);
  if (added.length === 0) return false;
  let [commits, head] = [0, noVersion];
  for await (const batch of inBatches(dump.pieces, bounds)) {
    const lines = batch.flatMap((piece) => (piece.kind === "version" ? piece.line : []));
    await transaction.ask(...writing(place, batch, commits), addChanges(place, commits, lines));
    commits += lines.length;
    head = readLine(lines.at(-1) ?? "")?.head ?? head;
  }
  const granted = grants();
  await transaction.commit(
    ...(commits === 0 ? [addChanges(place, 0, [null])] : []),
    sql`UPDATE memcell.homes h SET commits = ${Math.max(1, commits)}, seq = ${head.seq}, hash = ${head.hash},
        scopes = array(SELECT unnest(h.scopes) UNION SELECT scope FROM memcell.files f
          WHERE (f.tenant, f.kind) = (h.tenant, h.kind)),
        changed_us = (SELECT coalesce(max(f.changed_us), 0) FROM memcell.files f
          WHERE (f.tenant, f.kind) = (h.tenant, h.kind)),
        kept_bytes = (SELECT coalesce(sum(octet_length(content)), 0) FROM memcell.contents c
          WHERE (c.tenant, c.kind) = (h.tenant, h.kind) AND is_kept)
      WHERE tenant = ${tenant} AND kind = ${kind}`,
    ...(granted.length > 0 ? [setGrants(tenant, granted)] : []),
  );
  at.forget();
  return true;
}

/** Writes files, contents and records. `commits`: how many change sets came before. */
function writing(place: HomePlace, pieces: readonly HomePiece[], commits: number): Statement[] {
  const { tenant, kind } = place;
  const files = pieces.flatMap((piece) => (piece.kind === "file" ? piece : []));
  const origins = column(files, "origin");
  let commitNo = commits;
  const contents = pieces.flatMap((piece) => {
    if (piece.kind === "version") commitNo++;
    return "content" in piece ? { ...piece, commitNo, isKept: piece.kind === "kept" } : [];
  });
  return [
    // A content goes with the last version that it comes behind.
    sql`INSERT INTO memcell.contents (tenant, kind, sha256, content, commit_no, is_kept)
      SELECT DISTINCT ON (n.sha256) ${tenant}::uuid, ${kind}::text, n.* FROM unnest(
        ${column(contents, "sha256").map(bytesOf)}::bytea[], ${column(contents, "content")}::bytea[],
        ${column(contents, "commitNo")}::bigint[], ${column(contents, "isKept")}::boolean[]
      ) AS n (sha256, content, commit_no, is_kept) ORDER BY n.sha256, n.is_kept DESC, n.commit_no DESC
      ON CONFLICT (tenant, kind, sha256) DO UPDATE SET is_kept = true, commit_no = excluded.commit_no
      WHERE excluded.is_kept`,
    sql`INSERT INTO memcell.files (
        tenant, kind, scope, path, sha256, bytes, changed_us, written_us,
        origin_seq, origin_sha256, origin_class, origin_trust, origin_ms, origin_kind
      )
      SELECT ${tenant}::uuid, ${kind}::text, * FROM unnest(
        ${column(files, "scope")}::text[], ${column(files, "path")}::text[],
        ${column(files, "sha256").map(bytesOf)}::bytea[], ${column(files, "bytes")}::integer[],
        ${column(files, "changedUs")}::bigint[], ${column(files, "writtenUs")}::bigint[],
        ${column(origins, "seq")}::bigint[], ${column(origins, "sha256").map(bytesOf)}::bytea[],
        ${column(origins, "class")}::text[], ${column(origins, "trust")}::text[],
        ${column(origins, "atMs")}::bigint[], ${column(origins, "kind")}::text[]
      )`,
    ...pieces.flatMap((piece) => (piece.kind === "record" ? changeRecord(place, { ...piece, kind: piece.of }) : [])),
  ];
}

/** A change set for each version: nobody knows any more which were made together. With a line of `null`, one without any. */
const addChanges = ({ tenant, kind }: HomePlace, commits: number, lines: readonly (string | null)[]): Statement =>
  sql`INSERT INTO memcell.changes (tenant, kind, commit_no, id, lines)
    SELECT ${tenant}::uuid, ${kind}::text, ${commits}::bigint + at, gen_random_uuid(), array_remove(ARRAY[line], NULL)
    FROM unnest(${lines}::text[]) WITH ORDINALITY AS l (line, at)`;
