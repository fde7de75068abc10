import type { ListedFile } from "../../../shared/abi.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import { placeKey } from "../../values/change-set.ts";
import type { Place } from "../../values/change-set.ts";
import { scopeOfStore } from "../../values/ids.ts";
import type { FindAnswer, ReadQuestion } from "../bridge/answer-reads.ts";
import { entriesScope, grantsScope, keyOf } from "../home.ts";
import type { Home } from "../home.ts";
import type { PresentFiles } from "../plan-changes.ts";
import type { FileSum, Files, HandedFile, HandedFiles, ScopeSize, ScopeSurvey } from "../reading.ts";
import {
  checkBytes,
  checkedScope,
  digestOf,
  inFoldersPlace,
  listedIn,
  noFile,
  noFiles,
  segmentsOf,
  sizeOfFiles,
  surveyOf,
  trashIn,
  unsafe,
} from "../reading.ts";
import { isStatedClass } from "../versions/present-origins.ts";
import type { FileOrigin, HistoryState } from "../versions/present-origins.ts";
import { lostTrust, noVersion } from "../versions/version.ts";
import type { VersionHead, VersionKind } from "../versions/version.ts";
import type { Transaction } from "./database.ts";
import { column, placeOf, sql } from "./statement.ts";
import type { HomePlace, Statement } from "./statement.ts";

/** What the database has of a home beside its files. */
export interface HomeFacts extends HistoryState {
  /** Those that have ever had a file. */
  readonly scopes: readonly string[];
  /** Another one after each commit, also if the home was erased in between; empty if there is none. */
  readonly version: string;
  readonly commits: number;
  readonly agedMs: number;
}

/** What comes with the first round trip. */
const [firstFilesMax, firstBytesMax] = [200, 64 * 1024] as const;

/** So many bytes of contents stay known. Whoever reads all of a home, such as an export, needs each only once. */
const knownBytesMax = 16 * 1024 * 1024;

/** The files of a home in a transaction. Each is asked for once, but for large contents; a commit forgets what was found. */
export class DatabaseHome implements Files, PresentFiles {
  readonly key: string;
  readonly place: HomePlace;
  readonly transaction: Transaction;
  facts: HomeFacts = noFacts;
  /** Whether another host can have made a commit since the facts were found. */
  isOld = false;
  /** The scopes of interest; `null` for all. */
  readonly #scopes: readonly string[] | null;
  readonly #known = new Map<string, KnownFile | FreePlace>();
  #knownBytes = 0;
  /** Whether all files of the scopes are known. */
  #isComplete = false;

  /** `scopes`: of a user; a store has its own. */
  constructor(transaction: Transaction, home: Home, scopes: readonly string[] | null) {
    this.transaction = transaction;
    this.key = keyOf(home);
    this.place = placeOf(home);
    this.#scopes = home.kind === "user" ? scopes : [entriesScope, grantsScope];
  }

  /** Finds what there is of homes of one transaction, in one round trip. */
  static async askFirst(homes: readonly DatabaseHome[]): Promise<void> {
    const asked = homes.flatMap((home): Statement[] => {
      const { tenant, kind } = home.place;
      const scopes = home.#scopes;
      return [
        sql`SELECT scopes, version, commits, seq, hash, aged_ms AS "agedMs", coalesce(unknown, 'unstated') AS unknown,
            has_stated AS "hasStated", has_last AS "hasLast"
          FROM memcell.home_facts(${tenant}, ${kind})`,
        sql`SELECT *, changed_us AS "changedUs"
          FROM memcell.first_files(${tenant}, ${kind}, ${scopes}, ${firstFilesMax}, ${firstBytesMax})`,
      ];
    });
    const rows = (await homes[0]?.transaction.ask(...asked)) ?? [];
    for (const [at, home] of homes.entries()) {
      const [[facts], files] = rows.slice(2 * at) as [FactsRow[], FileRow[]];
      home.facts = factsOf(facts);
      home.isOld = false;
      home.#isComplete = files.length <= firstFilesMax;
      for (const row of files) home.#note(fileOf(row));
    }
  }

  /** After a commit, of this home or another, which has given the locks away: others can change the files. */
  forget(facts: HomeFacts = this.facts): void {
    this.facts = facts;
    this.isOld = true;
    this.#known.clear();
    this.#knownBytes = 0;
    this.#isComplete = false;
  }

  /** What was found so far, for a thread. */
  get handed(): Omit<HandedFiles, "hold"> {
    const { kind, tenant } = this.place;
    const nameOf = (scope: string): string[] =>
      kind === "user" ? [scope] : scope === entriesScope ? [scopeOfStore(tenant)] : [];
    // Copied out of Node's shared pool of buffers, so that no other content is sent along with it.
    const files = this.#files().flatMap(({ scope: inside, path, bytes, changedUs, content }): HandedFile[] =>
      nameOf(inside).map((scope) => ({ scope, path, bytes, changedUs, content: content && new Uint8Array(content) })),
    );
    return { files, complete: this.#isComplete ? (this.#scopes ?? []).flatMap(nameOf) : [] };
  }

  /** Answers a thread. Of a store, it knows only the entries. */
  answer({ asked, scope: named, path }: ReadQuestion): ReturnType<FindAnswer> {
    const scope = this.place.kind === "user" ? named : entriesScope;
    return asked === "scopeSize" ? this.scopeSize(scope) : this[asked](scope, path);
  }

  scopes(): string[] {
    return this.facts.scopes.toSorted();
  }

  async list(scope: string, prefix: string, filesMax?: number): Promise<ListedFile[]> {
    return listedIn(await this.#listed(scope, prefix), prefix, filesMax);
  }
  async listTrash(scope: string): Promise<ListedFile[]> {
    return trashIn(await this.#listed(scope, "trash/"));
  }
  async survey(scope: string): Promise<ScopeSurvey> {
    return surveyOf(await this.#listed(scope, ""));
  }

  async scopeSize(scope: string): Promise<ScopeSize> {
    const known = this.#allOf(scope);
    if (known !== null) return sizeOfFiles(known);
    const { tenant, kind } = this.place;
    const [rows] = await this.transaction.ask(sql<FileSum & { isTrash: boolean }>`
      SELECT starts_with(path, 'trash/') AS "isTrash", count(*)::float8 AS files, sum(bytes)::float8 AS bytes
      FROM memcell.files WHERE tenant = ${tenant} AND kind = ${kind} AND scope = ${scope} GROUP BY 1`);
    const sums = new Map(rows.map(({ isTrash, files, bytes }) => [isTrash, { files, bytes }]));
    return { live: sums.get(false) ?? noFiles, trash: sums.get(true) ?? noFiles };
  }

  async sizeOf(scope: string, path: string): Promise<number | null> {
    await this.find([{ scope, path }], false);
    return this.#at(scope, path)?.bytes ?? null;
  }

  async bytesOf(scope: string, path: string): Promise<Buffer | null> {
    // Not as it is known by then: others can have read since.
    const [file] = await this.find([{ scope, path }], true);
    if (this.#at(scope, path) === null || file === undefined || file.sha256 === null) return null;
    return Buffer.from(contentOf(file));
  }

  /** Finds files, and whether other places are free. Asks for all that is not known at once. */
  async find(places: readonly Place[], withContents: boolean): Promise<(KnownFile | FreePlace)[]> {
    if (this.#knownBytes > knownBytesMax) this.#forgetContents();
    const unknown = places.filter((place) => {
      segmentsOf(place.path);
      checkedScope(place.scope);
      const found = this.#known.get(placeKey(place));
      return found === undefined || (withContents && found.sha256 !== null && found.content === null);
    });
    if (unknown.length > 0) {
      const { tenant, kind } = this.place;
      const [scopes, paths] = [column(unknown, "scope"), column(unknown, "path")];
      const [rows] = await this.transaction.ask(sql<FileRow | FreePlace>`
        SELECT *, changed_us AS "changedUs"
        FROM memcell.find_files(${tenant}, ${kind}, ${scopes}, ${paths}, ${withContents})`);
      for (const row of rows) this.#note(row.sha256 === null ? row : fileOf(row));
    }
    return places.flatMap((place) => this.#known.get(placeKey(place)) ?? []);
  }

  /** For a plan: only of places that were looked for. A file's stamp is its hash. */
  readStamped(scope: string, path: string): { readonly content: Buffer; readonly stamp: null } | null {
    const file = this.#at(scope, path);
    return file && { content: contentOf(file), stamp: null };
  }

  stampOf(scope: string, path: string): ReturnType<PresentFiles["stampOf"]> {
    const file = this.#at(scope, path);
    return file && { text: file.sha256, bytes: file.bytes };
  }

  /** Throws `STORAGE_UNSAFE` if there can be no file, or if it is too large. */
  #at(scope: string, path: string): KnownFile | null {
    const found = this.#known.get(placeKey({ scope, path }));
    if (found === undefined) throw new RangeError("A place is needed that was not looked for");
    if (found.sha256 !== null) {
      checkBytes(path, found.bytes);
      return found;
    }
    if (found.obstacle === "file") throw inFoldersPlace();
    if (found.obstacle === "folder") throw unsafe(path, noFile);
    return null;
  }

  async #listed(scope: string, prefix: string): Promise<readonly ListedFile[]> {
    const known = this.#allOf(scope);
    if (known !== null) return known;
    const { tenant, kind } = this.place;
    const [rows] = await this.transaction.ask(sql<ListedFile>`
      SELECT path, bytes, changed_us::float8 AS "changedUs" FROM memcell.files
      WHERE tenant = ${tenant} AND kind = ${kind} AND scope = ${scope} AND starts_with(path, ${prefix})`);
    return rows;
  }

  /** All files of a scope, if they are known. */
  #allOf(scope: string): ListedFile[] | null {
    checkedScope(scope);
    if (!this.#isComplete || this.#scopes?.includes(scope) === false) return null;
    return this.#files().flatMap((file) => {
      const { path, bytes, changedUs } = file;
      return file.scope === scope ? [{ path, bytes, changedUs }] : [];
    });
  }

  #files(): KnownFile[] {
    return Array.from(this.#known.values()).filter((found) => found.sha256 !== null);
  }

  #note(found: KnownFile | FreePlace): void {
    const key = placeKey(found);
    // Of the same file, what was read stays known.
    const isLess = found.sha256 !== null && found.content === null && this.#known.get(key)?.sha256 === found.sha256;
    if (isLess) return;
    this.#known.set(key, found);
    if (found.sha256 !== null) this.#knownBytes += found.content?.length ?? 0;
  }

  #forgetContents(): void {
    for (const [key, found] of this.#known) {
      if (found.sha256 !== null && found.content !== null) this.#known.set(key, { ...found, content: null });
    }
    this.#knownBytes = 0;
  }
}

/** `hasLast`: its last change set is there. */
type FactsRow = Omit<HomeFacts, "head" | "filesHead" | "isBroken"> & VersionHead & { readonly hasLast: boolean };

const noFacts: HomeFacts = {
  scopes: [],
  version: "",
  commits: 0,
  head: noVersion,
  filesHead: noVersion,
  agedMs: 0,
  hasStated: false,
  isBroken: false,
  unknown: "unstated",
};

function factsOf(row: FactsRow | undefined): HomeFacts {
  if (row === undefined) return noFacts;
  const { seq, hash, hasLast, ...facts } = row;
  const [head, { unknown }] = [{ seq, hash }, facts];
  const hasStated = facts.hasStated || isStatedClass(unknown);
  // The last change set is missing, or versions were when the home was copied from elsewhere.
  const isBroken = !hasLast || unknown === lostTrust;
  return { ...facts, head, filesHead: head, hasStated, isBroken };
}

/** A file as the database has it. */
export interface KnownFile extends Place {
  readonly sha256: string;
  readonly bytes: number;
  readonly changedUs: number;
  /** `null` if no version has written it. */
  readonly origin: FileOrigin | null;
  /** `null` if it was not asked for, or is not what the hash says. */
  readonly content: Buffer | null;
}

/** A place without a file. */
export interface FreePlace extends Place {
  readonly sha256: null;
  /** Why there can be none: files are below it, or one is in the place of one of its folders. */
  readonly obstacle: "folder" | "file" | null;
}

/** Why a file cannot be used whose content was changed beside the host. */
export const notAsRecorded = "its content has another hash than the database records";

/** Of a file that was asked for. Throws `STORAGE_UNSAFE` if it is not as recorded. */
function contentOf({ path, content }: KnownFile): Buffer {
  if (content === null) throw unsafe(path, notAsRecorded);
  return content;
}

type FileRow = Omit<KnownFile, "origin"> & OriginRow;

function fileOf(row: FileRow): KnownFile {
  const { scope, path, sha256, bytes, changedUs, content } = row;
  const isWhole = content !== null && digestOf(content) === sha256;
  return { scope, path, sha256, bytes, changedUs, origin: originOf(row), content: isWhole ? content : null };
}

/** Of a row with a file: where its content comes from. All `null` if no version has written it. */
export interface OriginRow extends Place {
  readonly origin_seq: number | null;
  readonly origin_sha256: string | null;
  readonly origin_class: OriginClass | null;
  readonly origin_trust: OriginClass | null;
  readonly origin_ms: number | null;
  readonly origin_kind: VersionKind | null;
}

/** `null` of a file that no version has written. */
export function originOf(row: OriginRow): FileOrigin | null {
  const { origin_seq: seq, origin_sha256: sha256, origin_class: ofClass, origin_trust: trust, origin_ms: atMs } = row;
  if (seq === null || sha256 === null || ofClass === null || trust === null || atMs === null) return null;
  return { seq, sha256, class: ofClass, trust, atMs, ...(row.origin_kind && { kind: row.origin_kind }) };
}
