/** Reads and writes whole homes of a database, for copies in another place. */
import { placeKey } from "../../values/change-set.ts";
import { ownStoreOf } from "../../values/ids.ts";
import type { UserId } from "../../values/ids.ts";
import type { StoreGrant } from "../../values/store-grant.ts";
import { inTurns } from "../../values/turns.ts";
import { inParts, versionsIn, withContents } from "../home-dump.ts";
import type { DumpedFile, DumpedRecord, DumpedVersion, HomeDump, KeptContent } from "../home-dump.ts";
import { isOfEntries } from "../home.ts";
import type { Home } from "../home.ts";
import { faultInHistory, lostTrust, noVersion, parseLine } from "../versions/version.ts";
import { historyOf } from "./database-history.ts";
import type { DatabaseHome } from "./database-home.ts";
import { bytesOf, column, listVersions, setGrants, sql } from "./statement.ts";

/** `null` if there is none. */
export async function dumpHome(home: DatabaseHome): Promise<HomeDump | null> {
  const { transaction, place, facts } = home;
  const { tenant, kind } = place;
  const [[named], files, versions, kept, records] = await transaction.ask(
    sql<{ userId: UserId | null } & Partial<Pick<HomeDump, "unknown">>>`
      SELECT user_id AS "userId", unknown FROM memcell.homes WHERE tenant = ${tenant} AND kind = ${kind}`,
    // The hashes are those of the contents that are there, so that a copy can be compared by them.
    sql<DumpedFile>`
      SELECT f.scope, f.path, encode(sha256(c.content), 'hex') AS sha256, octet_length(c.content) AS bytes,
        f.changed_us::float8 AS "changedUs", coalesce(f.written_us, f.changed_us)::float8 AS "writtenUs"
      FROM memcell.files f JOIN memcell.contents c USING (tenant, kind, sha256)
      WHERE tenant = ${tenant} AND kind = ${kind} ORDER BY f.scope, f.path`,
    listVersions(place),
    sql<KeptContent>`
      SELECT encode(sha256(content), 'hex') AS sha256, octet_length(content) AS bytes FROM memcell.contents
      WHERE tenant = ${tenant} AND kind = ${kind} AND is_kept ORDER BY commit_no, sha256`,
    sql<DumpedRecord>`
      SELECT record_kind AS kind, name, body AS text FROM memcell.records
      WHERE tenant = ${tenant} AND ${kind}::text = 'user' ORDER BY record_kind, name`,
  );
  if (named === undefined && records.length === 0) return null;
  const userId = named?.userId ?? null;
  const lines = versions.map(({ line }) => line);
  // A history that somebody has changed says nothing: no file keeps any trust.
  const isBroken = facts.isBroken || (await inTurns(faultInHistory(lines, facts.head))) !== null;
  const origins = new Map(await historyOf(home).origins());
  // If every file is as a version says, whatever comes later by hand is an edit of the owner's.
  const areKnown = files.every(
    (file) => !isOfEntries(kind, file.scope) || file.sha256 === origins.get(placeKey(file))?.sha256,
  );
  return {
    files,
    scopes: kind === "user" ? facts.scopes : [],
    lines: lines.filter((line) => parseLine(line) !== null),
    origins,
    unknown: isBroken ? lostTrust : (named?.unknown ?? (areKnown ? "owner_edit" : "unstated")),
    isBroken,
    kept,
    agedMs: facts.agedMs,
    records,
    // As a folder records it: nobody's id but the owner's, whatever the database says.
    creator: kind === "store" && userId !== null && ownStoreOf(userId) === tenant ? userId : null,
    leftOut: [],
    contentsOf: async (hashes) => {
      const [found] = await transaction.ask(sql<{ sha256: string; content: Buffer }>`
        SELECT encode(sha256, 'hex') AS sha256, content FROM memcell.contents
        WHERE tenant = ${tenant} AND kind = ${kind} AND sha256 = ANY (${hashes.map(bytesOf)}::bytea[])`);
      return new Map(found.map(({ sha256, content }) => [sha256, content]));
    },
  };
}

/** What one statement brings. */
const bounds = { itemsMax: 1_000, bytesMax: 8 * 1024 * 1024 };

/** In a transaction that holds the home, which this commits. Returns `false` if there is one. */
export async function loadHome(
  at: DatabaseHome,
  home: Home,
  dump: HomeDump,
  grants: readonly StoreGrant[],
): Promise<boolean> {
  const { transaction } = at;
  const { tenant, kind } = at.place;
  const { files, lines, kept, records, unknown } = dump;
  const versions = versionsIn(dump);
  const { seq, hash } = versions.at(-1)?.head ?? noVersion;
  const userId = home.kind === "user" ? home.id : dump.creator;
  const scopes = [...new Set([...dump.scopes, ...files.map(({ scope }) => scope)])];
  const changedUs = Math.max(0, ...files.map((file) => file.changedUs));
  const keptBytes = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const [added] = await transaction.ask(sql`
    INSERT INTO memcell.homes (
      tenant, kind, user_id, scopes, commits, changed_us, seq, hash, kept_bytes, aged_ms, unknown
    )
    SELECT ${tenant}::uuid, ${kind}::text, ${userId}::text, ${scopes}::text[], ${Math.max(1, lines.length)}::bigint,
      ${changedUs}::bigint, ${seq}::bigint, ${hash}::text, ${keptBytes}::bigint,
      ${Math.trunc(dump.agedMs)}::bigint, ${unknown}::text
    WHERE ${kind}::text = 'store' OR NOT EXISTS (SELECT FROM memcell.records WHERE tenant = ${tenant})
    ON CONFLICT DO NOTHING RETURNING tenant`);
  if (added.length === 0) return false;
  await writeContents(at, dump, versions);
  await writeFiles(at, dump);
  await writeLines(at, lines);
  const [kinds, names, texts] = [column(records, "kind"), column(records, "name"), column(records, "text")];
  await transaction.ask(sql`
    INSERT INTO memcell.records (tenant, record_kind, name, body)
    SELECT ${tenant}::uuid, * FROM unnest(${kinds}::text[], ${names}::text[], ${texts}::text[])`);
  await transaction.commit(...(grants.length > 0 ? [setGrants(tenant, grants)] : []));
  at.forget();
  return true;
}

async function writeContents(
  { transaction, place }: DatabaseHome,
  dump: HomeDump,
  versions: readonly DumpedVersion[],
): Promise<void> {
  const keptBy = new Map(versions.flatMap(({ kept }, at) => kept.map(({ sha256 }) => [sha256, at + 1])));
  const all = new Map([...dump.kept, ...dump.files].map(({ sha256, bytes }) => [sha256, { sha256, bytes }]));
  for (const part of inParts(all.values(), bounds)) {
    const contents = column(await withContents(dump, part), "content");
    const hashes = part.map(({ sha256 }) => sha256);
    const commitNos = hashes.map((sha256) => keptBy.get(sha256) ?? 0);
    const areKept = hashes.map((sha256) => keptBy.has(sha256));
    await transaction.ask(sql`
      INSERT INTO memcell.contents (tenant, kind, sha256, content, commit_no, is_kept)
      SELECT ${place.tenant}::uuid, ${place.kind}::text, * FROM unnest(
        ${hashes.map(bytesOf)}::bytea[], ${contents}::bytea[], ${commitNos}::bigint[], ${areKept}::boolean[]
      )`);
  }
}

async function writeFiles({ transaction, place }: DatabaseHome, { files, origins }: HomeDump): Promise<void> {
  // A row has about so many bytes.
  const rows = files.map((file) => ({ file, origin: origins.get(placeKey(file)), bytes: 512 }));
  for (const part of inParts(rows, bounds)) {
    const [ofFiles, ofOrigins] = [column(part, "file"), column(part, "origin")];
    await transaction.ask(sql`
      INSERT INTO memcell.files (
        tenant, kind, scope, path, sha256, bytes, changed_us, written_us,
        origin_seq, origin_sha256, origin_class, origin_trust, origin_ms, origin_kind
      )
      SELECT ${place.tenant}::uuid, ${place.kind}::text, * FROM unnest(
        ${column(ofFiles, "scope")}::text[], ${column(ofFiles, "path")}::text[],
        ${column(ofFiles, "sha256").map(bytesOf)}::bytea[], ${column(ofFiles, "bytes")}::integer[],
        ${column(ofFiles, "changedUs")}::bigint[], ${column(ofFiles, "writtenUs")}::bigint[],
        ${column(ofOrigins, "seq")}::bigint[], ${column(ofOrigins, "sha256").map(bytesOf)}::bytea[],
        ${column(ofOrigins, "class")}::text[], ${column(ofOrigins, "trust")}::text[],
        ${column(ofOrigins, "atMs")}::bigint[], ${column(ofOrigins, "kind")}::text[]
      )`);
  }
}

/** A change set for each version: nobody knows any more which were made together. One without any if there is none. */
async function writeLines({ transaction, place }: DatabaseHome, lines: readonly string[]): Promise<void> {
  const rows = (lines.length > 0 ? lines : [null]).map((line, at) => ({
    line,
    commitNo: at + 1,
    bytes: line?.length ?? 0,
  }));
  for (const part of inParts(rows, bounds)) {
    await transaction.ask(sql`
      INSERT INTO memcell.changes (tenant, kind, commit_no, id, lines)
      SELECT ${place.tenant}::uuid, ${place.kind}::text, commit_no, gen_random_uuid(), array_remove(ARRAY[line], NULL)
      FROM unnest(${column(part, "line")}::text[], ${column(part, "commitNo")}::bigint[]) AS l (line, commit_no)`);
  }
}
