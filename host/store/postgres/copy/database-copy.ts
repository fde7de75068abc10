import type { OriginClass } from "../../../../shared/origin.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { ownStoreOf } from "../../../values/store-id.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { inTurns } from "../../../values/turns.ts";
import type { UserId } from "../../../values/user-id.ts";
import type {
  CopiedFile,
  CopiedRecord,
  CopySettings,
  HomeContent,
  HomeName,
  StoreCopy,
  WrittenHome,
} from "../../copying.ts";
import { inParts } from "../../copying.ts";
import type { RecordKind } from "../../home.ts";
import { placeKey } from "../../versions/present-origins.ts";
import { faultInHistory } from "../../versions/version-chain.ts";
import { headAfter, parseLine } from "../../versions/version-line.ts";
import { lostTrust, noVersion } from "../../versions/version.ts";
import type { VersionHead } from "../../versions/version.ts";
import { refuseUnfit } from "../check-database.ts";
import { withClient } from "../connections.ts";
import { Database } from "../database.ts";
import { lockOf, placeOf } from "../home-place.ts";
import type { HomePlace } from "../home-place.ts";
import { originsIn } from "../known-file.ts";
import { homeIn, listErased, listHomes, listVersions, nobody, setGrants } from "../statements.ts";
import type { Acting, Row } from "../statements.ts";
import type { Transaction } from "../transaction.ts";
import {
  addContents,
  addFiles,
  addFirstChange,
  addHome,
  addLeft,
  addRecords,
  addVersions,
  listLeaving,
  listLeft,
  someContents,
  wholeFiles,
  wholeHistory,
  wholeHome,
  wholeRecords,
} from "./copy-statements.ts";

/** Throws `STORAGE_FAILED` if the database is not fit for a host. */
export async function openDatabaseCopy(url: string, settings: CopySettings): Promise<StoreCopy> {
  await withClient(url, refuseUnfit);
  return new DatabaseCopy(url, settings);
}

class DatabaseCopy implements StoreCopy {
  readonly #database: Database;
  readonly #waitMs: number;

  constructor(url: string, { durability, waitMs }: CopySettings) {
    const isRelaxed = durability === "relaxed";
    this.#database = new Database({ url, connectionsMax: 1, isRelaxed, clock: Date.now, note: () => {} });
    this.#waitMs = waitMs;
  }

  async homes(): Promise<HomeName[]> {
    const [found = []] = await this.#act({ who: nobody, isReadOnly: true }, (transaction) =>
      transaction.ask(listHomes()),
    );
    return found.flatMap(homeIn);
  }

  async strays(): Promise<[]> {
    return [];
  }

  async hasErasures(): Promise<boolean> {
    return (await this.#database.ask(nobody, listErased())).length > 0;
  }

  /** Keeps no writer waiting: the transaction sees one moment. */
  async hold<Result>(home: HomeName, work: (content: HomeContent | null) => Promise<Result>): Promise<Result> {
    const place = placeOf(home);
    return await this.#act({ who: place.tenant, isReadOnly: true }, async (transaction) =>
      work(await readWhole(transaction, place)),
    );
  }

  async write(home: HomeName, content: WrittenHome): Promise<boolean> {
    const place = placeOf(home);
    const userId = home.kind === "user" ? home.id : content.creator;
    return await this.#act({ who: place.tenant, isReadOnly: false, locks: [lockOf(place)] }, (transaction) =>
      writeWhole(transaction, place, { userId, content }),
    );
  }

  async leftStores(): Promise<Map<StoreId, StoreId[]>> {
    const [leaving = []] = await this.#act({ who: nobody, isReadOnly: true }, (transaction) =>
      transaction.ask(listLeaving()),
    );
    const all = new Map<StoreId, StoreId[]>();
    for (const { tenant } of leaving) {
      const who = idOf(tenant);
      const [left = []] = await this.#act({ who, isReadOnly: true }, (transaction) => transaction.ask(listLeft(who)));
      all.set(
        who,
        left.map(({ store }) => idOf(store)),
      );
    }
    return all;
  }

  async leaveStores(principal: StoreId, stores: readonly StoreId[]): Promise<void> {
    await this.#act({ who: principal, isReadOnly: false }, (transaction) =>
      transaction.commit(addLeft(principal, stores)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close();
  }

  async #act<Result>(
    acting: Pick<Acting, "who" | "isReadOnly"> & Partial<Acting>,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const until = performance.now() + this.#waitMs;
    return await this.#database.act({ locks: [], until, ...acting }, naming, work);
  }
}

const idOf = (value: Row[string] | undefined): StoreId => String(value) as StoreId;

const naming = {
  action: "copy",
  tooLong: (waitedMs: number): ToolError =>
    new ToolError("BUSY", `Cannot copy: the memory has been in use for ${waitedMs} ms`),
};

/** Reads a whole home, in a transaction that sees one moment; `null` if there is none. */
async function readWhole(transaction: Transaction, place: HomePlace): Promise<HomeContent | null> {
  const [homes = [], files = [], lines = [], kept = [], records = []] = await transaction.ask(
    wholeHome(place),
    wholeFiles(place),
    listVersions(place),
    wholeHistory(place),
    wholeRecords(place.tenant),
  );
  const [home] = homes;
  const isUser = place.kind === "user";
  if (home === undefined && (!isUser || records.length === 0)) return null;
  const origins = new Map(originsIn(files));
  const all = lines.map(({ line }) => String(line));
  return {
    files: files.map(fileOf),
    scopes: isUser ? ((home?.["scopes"] ?? []) as unknown as string[]) : [],
    lines: all.filter((line) => parseLine(line) !== null),
    origins,
    ...(await trustOfUnknown(home, files, all)),
    kept: kept.map(({ sha256, bytes }) => ({ sha256: String(sha256), bytes: Number(bytes) })),
    agedMs: Number(home?.["aged_ms"] ?? 0),
    records: isUser ? records.map(recordOf) : [],
    creator: isUser ? null : creatorOf(place, home),
    leftOut: [],
    contentsOf: async (hashes) => {
      const [found = []] = await transaction.ask(someContents(place, hashes));
      return new Map(found.map(({ sha256, content }) => [String(sha256), content as unknown as Buffer]));
    },
  };
}

function fileOf(row: Row): CopiedFile {
  return {
    scope: String(row["scope"]),
    path: String(row["path"]),
    sha256: String(row["sha256"]),
    bytes: Number(row["bytes"]),
    changedUs: Number(row["changed_us"]),
    writtenUs: Number(row["written_us"]),
  };
}

const recordOf = (row: Row): CopiedRecord => ({
  kind: row["record_kind"] as RecordKind,
  name: String(row["name"]),
  text: String(row["body"]),
});

/**
 * A history that somebody has changed says nothing: no file keeps any trust. If the home came from elsewhere, as it was
 * there. Else: if every file is as a version says, whatever comes later by hand is an edit of the owner's.
 */
async function trustOfUnknown(
  home: Row | undefined,
  files: readonly Row[],
  lines: readonly string[],
): Promise<Pick<HomeContent, "unknown" | "isBroken">> {
  const unknown = (home?.["unknown"] ?? null) as OriginClass | null;
  const head = home && { seq: Number(home["seq"]), hash: String(home["hash"]) };
  const isChanged = head !== undefined && (await inTurns(faultInHistory(lines, head))) !== null;
  if (unknown === lostTrust || home?.["has_last"] === false || isChanged) return { unknown: lostTrust, isBroken: true };
  const areKnown = files
    .filter(({ path }) => path !== "grants.json")
    .every(({ sha256, origin_sha256: known }) => sha256 === known);
  return { unknown: unknown ?? (areKnown ? "owner_edit" : "unstated"), isBroken: false };
}

/** As a folder records it: nobody's id but the owner's, whatever the database says. */
function creatorOf({ tenant }: HomePlace, home: Row | undefined): UserId | null {
  const userId = (home?.["user_id"] ?? null) as UserId | null;
  return userId !== null && ownStoreOf(userId) === tenant ? userId : null;
}

/** What one statement brings. */
const bounds = { itemsMax: 1_000, bytesMax: 8 * 1024 * 1024 };
/** About what a file's row has. */
const rowBytes = 512;

/** Writes a whole home in a transaction that holds it, and commits. Returns `false` if there is one. */
async function writeWhole(
  transaction: Transaction,
  place: HomePlace,
  { userId, content }: { readonly userId: UserId | null; readonly content: WrittenHome },
): Promise<boolean> {
  const { files, lines, kept, records, grants, origins, agedMs, unknown } = content;
  const [added = []] = await transaction.ask(
    addHome(place, {
      userId,
      scopes: [...new Set([...content.scopes, ...files.map(({ scope }) => scope)])],
      commits: Math.max(1, lines.length),
      changedUs: Math.max(0, ...files.map(({ changedUs }) => changedUs)),
      head: headOf(lines),
      keptBytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
      agedMs,
      unknown,
    }),
  );
  if (added.length === 0) return false;
  await writeContents(transaction, place, content);
  const rows = files.map((file) => ({ file, origin: origins.get(placeKey(file)) ?? null, bytes: rowBytes }));
  for (const part of inParts(rows, bounds)) await transaction.ask(addFiles(place, part));
  await writeLines(transaction, place, lines);
  if (records.length > 0) await transaction.ask(addRecords(place.tenant, records));
  const granted = { content: "", granted: grants, nowMs: 0 };
  await transaction.commit(...(grants.length > 0 ? [setGrants(place.tenant, granted)] : []));
  return true;
}

async function writeLines(transaction: Transaction, place: HomePlace, all: readonly string[]): Promise<void> {
  if (all.length === 0) await transaction.ask(addFirstChange(place));
  let first = 1;
  for (const part of inParts(
    all.map((line) => ({ line, bytes: line.length })),
    bounds,
  )) {
    const lines = part.map(({ line }) => line);
    await transaction.ask(addVersions(place, lines, first));
    first += lines.length;
  }
}

async function writeContents(transaction: Transaction, place: HomePlace, content: HomeContent): Promise<void> {
  const { files, kept } = content;
  const keptHashes = new Set(kept.map(({ sha256 }) => sha256));
  const all = new Map([...kept, ...files].map(({ sha256, bytes }) => [sha256, { sha256, bytes }]));
  const broughtBy = lastVersions(content.lines);
  for (const part of inParts(all.values(), bounds)) {
    const found = await content.contentsOf(part.map(({ sha256 }) => sha256));
    const rows = part.map(({ sha256 }) => {
      const bytes = found.get(sha256);
      if (bytes === undefined) throw new ToolError("STORAGE_FAILED", "Cannot copy: a content is missing");
      return { sha256, content: bytes, commitNo: broughtBy.get(sha256) ?? 0, isKept: keptHashes.has(sha256) };
    });
    await transaction.ask(addContents(place, rows));
  }
}

/** By content, the place of the last version that has it: the oldest go first when there are too many. */
function lastVersions(lines: readonly string[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    for (const { sha256 } of parseLine(line)?.files ?? []) if (sha256 !== null) last.set(sha256, at + 1);
  }
  return last;
}

function headOf(lines: readonly string[]): VersionHead {
  const line = lines.at(-1);
  const version = line === undefined ? null : parseLine(line);
  return version === null || line === undefined ? noVersion : headAfter(version, line);
}
