/** Reads and writes whole homes of a database, for copies from one store to another. */
import type { OriginClass } from "../../../shared/origin.ts";
import { ownStoreOf } from "../../values/ids.ts";
import type { StoreId, UserId } from "../../values/ids.ts";
import { ToolError } from "../../values/tool-error.ts";
import { inTurns } from "../../values/turns.ts";
import { inParts } from "../copying.ts";
import type {
  CopiedFile,
  CopiedRecord,
  CopySettings,
  HomeContent,
  KeptContent,
  StoreCopy,
  WrittenHome,
} from "../copying.ts";
import { grantsPath } from "../home.ts";
import { placeKey } from "../versions/present-origins.ts";
import { faultInHistory, headAfter, lostTrust, noVersion, parseLine } from "../versions/version.ts";
import type { VersionHead } from "../versions/version.ts";
import { withClient } from "./connections.ts";
import { originsIn } from "./database-home.ts";
import type { OriginRow } from "./database-home.ts";
import { Database } from "./database.ts";
import type { Acting, Transaction } from "./database.ts";
import { refuseUnfit } from "./schema.ts";
import {
  bytesOf,
  column,
  homeIn,
  leaveStores,
  leftBy,
  listErased,
  listHomes,
  listVersions,
  lockOf,
  nobody,
  placeOf,
  setGrants,
  sql,
} from "./statement.ts";
import type { HomePlace, Statement } from "./statement.ts";

/** Throws `STORAGE_FAILED` if the database is not fit for a host. */
export async function openDatabaseCopy(url: string, { durability, waitMs }: CopySettings): Promise<StoreCopy> {
  await withClient(url, refuseUnfit);
  const isRelaxed = durability === "relaxed";
  const database = new Database({ url, connectionsMax: 1, isRelaxed, clock: Date.now, note: () => {} });
  const act = <Result>(
    acting: Pick<Acting, "who" | "isReadOnly" | "locks">,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> =>
    database.act({ ...acting, action: "copy", until: performance.now() + waitMs, tooLong: inUse }, work);
  const ask = async <Row extends object>(who: StoreId, statement: Statement<Row>): Promise<Row[]> =>
    (await act({ who, isReadOnly: true }, (transaction) => transaction.ask(statement)))[0];
  return {
    homes: async () => (await ask(nobody, listHomes())).flatMap(homeIn),
    strays: async () => [],
    hasErasures: async () => (await ask(nobody, listErased())).length > 0,
    // Keeps no writer waiting: the transaction sees one moment.
    hold: (home, work) =>
      act({ who: placeOf(home).tenant, isReadOnly: true }, async (transaction) =>
        work(await readWhole(transaction, placeOf(home))),
      ),
    write: (home, content) => {
      const place = placeOf(home);
      const userId = home.kind === "user" ? home.id : content.creator;
      return act({ who: place.tenant, isReadOnly: false, locks: [lockOf(place)] }, (transaction) =>
        writeWhole(transaction, place, { userId, content }),
      );
    },
    leftStores: async () => {
      const all = new Map<StoreId, StoreId[]>();
      for (const { tenant } of await ask(nobody, sql<{ tenant: StoreId }>`SELECT tenant FROM memcell.list_leaving()`)) {
        const left = await ask(tenant, leftBy(tenant));
        all.set(
          tenant,
          left.map(({ name }) => name as StoreId),
        );
      }
      return all;
    },
    leaveStores: async (principal, stores) => {
      await act({ who: principal, isReadOnly: false }, (transaction) =>
        transaction.commit(leaveStores(principal, stores)),
      );
    },
    [Symbol.asyncDispose]: () => database.close(),
  };
}

const inUse = (waitedMs: number): ToolError =>
  new ToolError("BUSY", `Cannot copy: the memory has been in use for ${waitedMs} ms`);

/** A home; its history's end is there if the last of its change sets is. */
interface WholeHome extends VersionHead {
  readonly user_id: UserId | null;
  readonly scopes: readonly string[];
  readonly unknown: OriginClass | null;
  readonly aged_ms: number;
  readonly has_last: boolean;
}

/** Reads a whole home, in a transaction that sees one moment; `null` if there is none. */
async function readWhole(transaction: Transaction, place: HomePlace): Promise<HomeContent | null> {
  const { tenant, kind } = place;
  const [[home], files, lines, kept, records] = await transaction.ask(
    sql<WholeHome>`
      SELECT h.user_id, h.scopes, h.unknown, h.aged_ms::float8 AS aged_ms, h.seq::float8 AS seq, h.hash,
        h.commits = 0 OR EXISTS (
          SELECT FROM memcell.changes c WHERE c.tenant = h.tenant AND c.kind = h.kind AND c.commit_no = h.commits
        ) AS has_last
      FROM memcell.homes h WHERE h.tenant = ${tenant} AND h.kind = ${kind}`,
    // The hashes are those of the contents that are there, so that a copy can be compared by them.
    sql<CopiedFile & OriginRow>`
      SELECT f.scope, f.path, encode(sha256(c.content), 'hex') AS sha256, octet_length(c.content) AS bytes,
        f.changed_us::float8 AS "changedUs", coalesce(f.written_us, f.changed_us)::float8 AS "writtenUs",
        f.origin_seq::float8 AS origin_seq, encode(f.origin_sha256, 'hex') AS origin_sha256, f.origin_class,
        f.origin_trust, f.origin_ms::float8 AS origin_ms, f.origin_kind
      FROM memcell.files f JOIN memcell.contents c USING (tenant, kind, sha256)
      WHERE tenant = ${tenant} AND kind = ${kind} ORDER BY f.scope, f.path`,
    listVersions(place),
    sql<KeptContent>`
      SELECT encode(sha256(content), 'hex') AS sha256, octet_length(content) AS bytes FROM memcell.contents
      WHERE tenant = ${tenant} AND kind = ${kind} AND is_kept ORDER BY commit_no, sha256`,
    sql<CopiedRecord>`
      SELECT record_kind AS kind, name, body AS text FROM memcell.records
      WHERE tenant = ${tenant} ORDER BY record_kind, name`,
  );
  const isUser = kind === "user";
  if (home === undefined && (!isUser || records.length === 0)) return null;
  const all = lines.map(({ line }) => line);
  const userId = home?.user_id ?? null;
  return {
    files,
    scopes: isUser ? (home?.scopes ?? []) : [],
    lines: all.filter((line) => parseLine(line) !== null),
    origins: new Map(originsIn(files)),
    ...(await trustOfUnknown(home, files, all)),
    kept,
    agedMs: home?.aged_ms ?? 0,
    records: isUser ? records : [],
    // As a folder records it: nobody's id but the owner's, whatever the database says.
    creator: !isUser && userId !== null && ownStoreOf(userId) === tenant ? userId : null,
    leftOut: [],
    contentsOf: async (hashes) => {
      const [found] = await transaction.ask(sql<{ sha256: string; content: Buffer }>`
        SELECT encode(sha256, 'hex') AS sha256, content FROM memcell.contents
        WHERE tenant = ${tenant} AND kind = ${kind} AND sha256 = ANY (${hashes.map(bytesOf)}::bytea[])`);
      return new Map(found.map(({ sha256, content }) => [sha256, content]));
    },
  };
}

/**
 * A history that somebody has changed says nothing: no file keeps any trust. If the home came from elsewhere, as it was
 * there. Else: if every file is as a version says, whatever comes later by hand is an edit of the owner's.
 */
async function trustOfUnknown(
  home: WholeHome | undefined,
  files: readonly (CopiedFile & OriginRow)[],
  lines: readonly string[],
): Promise<Pick<HomeContent, "unknown" | "isBroken">> {
  const unknown = home?.unknown ?? null;
  const isChanged = home !== undefined && (await inTurns(faultInHistory(lines, home))) !== null;
  if (unknown === lostTrust || home?.has_last === false || isChanged) return { unknown: lostTrust, isBroken: true };
  const areKnown = files
    .filter(({ path }) => path !== grantsPath)
    .every(({ sha256, origin_sha256: known }) => sha256 === known);
  return { unknown: unknown ?? (areKnown ? "owner_edit" : "unstated"), isBroken: false };
}

/** What one statement brings. */
const bounds = { itemsMax: 1_000, bytesMax: 8 * 1024 * 1024 };

/** Writes a whole home in a transaction that holds it, and commits. Returns `false` if there is one. */
async function writeWhole(
  transaction: Transaction,
  place: HomePlace,
  { userId, content }: { readonly userId: UserId | null; readonly content: WrittenHome },
): Promise<boolean> {
  const { tenant, kind } = place;
  const { files, lines, kept, records, grants, agedMs, unknown } = content;
  const scopes = [...new Set([...content.scopes, ...files.map(({ scope }) => scope)])];
  const changedUs = Math.max(0, ...files.map((file) => file.changedUs));
  const { head, broughtBy } = readLines(lines);
  const keptBytes = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const [added] = await transaction.ask(sql`
    INSERT INTO memcell.homes (
      tenant, kind, user_id, scopes, commits, changed_us, seq, hash, kept_bytes, aged_ms, unknown
    )
    SELECT ${tenant}::uuid, ${kind}::text, ${userId}::text, ${scopes}::text[], ${Math.max(1, lines.length)}::bigint,
      ${changedUs}::bigint, ${head.seq}::bigint, ${head.hash}::text, ${keptBytes}::bigint,
      ${Math.trunc(agedMs)}::bigint, ${unknown}::text
    WHERE ${kind}::text = 'store' OR NOT EXISTS (SELECT FROM memcell.records WHERE tenant = ${tenant})
    ON CONFLICT DO NOTHING RETURNING tenant`);
  if (added.length === 0) return false;
  await writeContents(transaction, place, { content, broughtBy });
  await writeFiles(transaction, place, content);
  await writeLines(transaction, place, lines);
  if (records.length > 0) {
    const [kinds, names, texts] = [column(records, "kind"), column(records, "name"), column(records, "text")];
    await transaction.ask(sql`
      INSERT INTO memcell.records (tenant, record_kind, name, body)
      SELECT ${tenant}::uuid, * FROM unnest(${kinds}::text[], ${names}::text[], ${texts}::text[])`);
  }
  await transaction.commit(...(grants.length > 0 ? [setGrants(tenant, grants)] : []));
  return true;
}

async function writeContents(
  transaction: Transaction,
  place: HomePlace,
  { content, broughtBy }: { readonly content: HomeContent; readonly broughtBy: ReadonlyMap<string, number> },
): Promise<void> {
  const { files, kept } = content;
  const keptHashes = new Set(kept.map(({ sha256 }) => sha256));
  const all = new Map([...kept, ...files].map(({ sha256, bytes }) => [sha256, { sha256, bytes }]));
  for (const part of inParts(all.values(), bounds)) {
    const hashes = part.map(({ sha256 }) => sha256);
    const found = await content.contentsOf(hashes);
    const contents = hashes.map((sha256) => {
      const bytes = found.get(sha256);
      if (bytes === undefined) throw new ToolError("STORAGE_FAILED", "Cannot copy: a content is missing");
      return Buffer.from(bytes);
    });
    const commitNos = hashes.map((sha256) => broughtBy.get(sha256) ?? 0);
    const areKept = hashes.map((sha256) => keptHashes.has(sha256));
    await transaction.ask(sql`
      INSERT INTO memcell.contents (tenant, kind, sha256, content, commit_no, is_kept)
      SELECT ${place.tenant}::uuid, ${place.kind}::text, * FROM unnest(
        ${hashes.map(bytesOf)}::bytea[], ${contents}::bytea[], ${commitNos}::bigint[], ${areKept}::boolean[]
      )`);
  }
}

async function writeFiles(
  transaction: Transaction,
  { tenant, kind }: HomePlace,
  { files, origins }: HomeContent,
): Promise<void> {
  // A row has about so many bytes.
  const rows = files.map((file) => ({ file, origin: origins.get(placeKey(file)), bytes: 512 }));
  for (const part of inParts(rows, bounds)) {
    const [ofFiles, ofOrigins] = [column(part, "file"), column(part, "origin")];
    await transaction.ask(sql`
      INSERT INTO memcell.files (
        tenant, kind, scope, path, sha256, bytes, changed_us, written_us,
        origin_seq, origin_sha256, origin_class, origin_trust, origin_ms, origin_kind
      )
      SELECT ${tenant}::uuid, ${kind}::text, * FROM unnest(
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
async function writeLines(
  transaction: Transaction,
  { tenant, kind }: HomePlace,
  lines: readonly string[],
): Promise<void> {
  const rows = (lines.length > 0 ? lines : [null]).map((line, at) => ({
    line,
    commitNo: at + 1,
    bytes: line?.length ?? 0,
  }));
  for (const part of inParts(rows, bounds)) {
    await transaction.ask(sql`
      INSERT INTO memcell.changes (tenant, kind, commit_no, id, lines)
      SELECT ${tenant}::uuid, ${kind}::text, commit_no, gen_random_uuid(), array_remove(ARRAY[line], NULL)
      FROM unnest(${column(part, "line")}::text[], ${column(part, "commitNo")}::bigint[]) AS l (line, commit_no)`);
  }
}

/** The history's end, and by content the last version that has it: if there are too many, the oldest go first. */
function readLines(lines: readonly string[]) {
  let head = noVersion;
  const broughtBy = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    const version = parseLine(line);
    if (version === null) continue;
    head = headAfter(version, line);
    for (const { sha256 } of version.files) if (sha256 !== null) broughtBy.set(sha256, at + 1);
  }
  return { head, broughtBy };
}
