import type { ListedFile } from "../../../shared/abi.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import { scopeOfStore } from "../../values/store-id.ts";
import type { FindAnswer } from "../bridge/answer-reads.ts";
import type { ReadQuestion } from "../bridge/read-question.ts";
import type { HandedFile, HandedFiles } from "../handed.ts";
import type { DirectFiles } from "../held-reads.ts";
import type { ScopeSurvey } from "../holding.ts";
import { entriesScope, grantsScope } from "../home.ts";
import { checkBytes, inFoldersPlace, listedIn, noFile, surveyOf, trashIn, unsafe } from "../listed-files.ts";
import { checkedScope, segmentsOf } from "../reading.ts";
import { noFiles, sizeOfFiles } from "../scope-size.ts";
import type { FileSum, ScopeSize } from "../scope-size.ts";
import { placeKey } from "../versions/present-origins.ts";
import { lostTrust, noVersion } from "../versions/version.ts";
import type { VersionHead } from "../versions/version.ts";
import type { HomePlace } from "./home-place.ts";
import { fileOf, isKnownFile, notAsRecorded, placeOf } from "./known-file.ts";
import type { FreePlace, KnownFile } from "./known-file.ts";
import { findFiles, firstFiles, homeFacts, listFiles, measureScope } from "./statements.ts";
import type { Row } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

/** What the database has of a home beside its files. */
export interface HomeFacts {
  /** Those that have ever had a file. */
  readonly scopes: readonly string[];
  /** Another one after each commit, also if the home was erased in between; empty if there is none. */
  readonly version: string;
  readonly commits: number;
  readonly head: VersionHead;
  readonly filesHead: VersionHead;
  readonly agedMs: number;
  readonly hasStated: boolean;
  /** The last change set is missing, or versions were when the home was copied from elsewhere. */
  readonly isBroken: boolean;
  /** Where files come from that no version knows: of a home that was copied, as it was where it came from. */
  readonly unknown: OriginClass;
}

interface Place {
  readonly scope: string;
  readonly path: string;
}

/** What comes with the first round trip. */
const [firstFilesMax, firstBytesMax] = [200, 64 * 1024] as const;

/** A home in a transaction. Each file is asked for once; a commit forgets what was found. */
export class DatabaseHome implements DirectFiles {
  readonly place: HomePlace;
  readonly transaction: Transaction;
  /** The scopes of interest; `null` for all. */
  readonly #scopes: readonly string[] | null;
  #facts: HomeFacts = noFacts;
  readonly #known = new Map<string, KnownFile | FreePlace>();
  /** Whether all files of the scopes are known. */
  #isComplete = false;
  #isOld = false;

  /** `scopes`: of a user; a store has its own. */
  constructor(transaction: Transaction, place: HomePlace, scopes: readonly string[] | null) {
    this.transaction = transaction;
    this.place = place;
    this.#scopes = place.kind === "user" ? scopes : [entriesScope, grantsScope];
  }

  /** Finds what there is of homes of one transaction, in one round trip. */
  static async askFirst([...homes]: Iterable<DatabaseHome>): Promise<void> {
    const bounds = { filesMax: firstFilesMax, bytesMax: firstBytesMax };
    const asked = homes.flatMap((home) => [
      homeFacts(home.place),
      firstFiles(home.place, { ...bounds, scopes: home.#scopes }),
    ]);
    const rows = (await homes[0]?.transaction.ask(...asked)) ?? [];
    for (const [at, home] of homes.entries()) home.#take(rows[2 * at]?.[0], rows[2 * at + 1] ?? []);
  }

  #take(facts: Row | undefined, files: readonly Row[]): void {
    this.#isOld = false;
    this.#facts = factsOf(facts);
    this.#isComplete = files.length <= firstFilesMax;
    for (const row of files) this.#note(fileOf(row));
  }

  get facts(): HomeFacts {
    return this.#facts;
  }

  /** Whether another host can have made a commit since the facts were found. */
  get isOld(): boolean {
    return this.#isOld;
  }

  /** What was found so far, for a thread. */
  get handed(): Omit<HandedFiles, "hold"> {
    const { kind, tenant } = this.place;
    const nameOf = (scope: string): string[] =>
      kind === "user" ? [scope] : scope === entriesScope ? [scopeOfStore(tenant)] : [];
    const files = Array.from(this.#known.values()).flatMap((file): HandedFile[] => {
      if (!isKnownFile(file)) return [];
      const { path, bytes, changedUs, content } = file;
      return nameOf(file.scope).map((scope) => ({ scope, path, bytes, changedUs, content }));
    });
    return { files, complete: this.#isComplete ? (this.#scopes ?? []).flatMap(nameOf) : [] };
  }

  /** Answers a thread. Of a store, it knows only the entries. */
  answer({ asked, scope: named, path }: ReadQuestion): ReturnType<FindAnswer> {
    const scope = this.place.kind === "user" ? named : entriesScope;
    switch (asked) {
      case "read":
        return this.bytesOf(scope, path);
      case "list":
        return this.list(scope, path);
      case "sizeOf":
        return this.sizeOf(scope, path);
      case "scopeSize":
        return this.scopeSize(scope);
    }
  }

  /** After a commit, of this home or another, which has given the locks away: others can change the files. */
  forget(facts: HomeFacts = this.#facts): void {
    this.#facts = facts;
    this.#isOld = true;
    this.#known.clear();
    this.#isComplete = false;
  }

  /** Finds files, and whether other places are free. Asks for all that is not known at once. */
  async find(places: readonly Place[], withContents: boolean): Promise<(KnownFile | FreePlace)[]> {
    const unknown = places.filter((place) => !this.#isFound(place, withContents));
    if (unknown.length > 0) {
      const [rows = []] = await this.transaction.ask(findFiles(this.place, unknown, withContents));
      for (const row of rows) this.#note(placeOf(row));
    }
    return places.map((place) => this.at(place) ?? { ...place, obstacle: null });
  }

  /** What is known of a place; `undefined` if nothing. */
  at(place: Place): KnownFile | FreePlace | undefined {
    return this.#known.get(placeKey(place));
  }

  scopes(): string[] {
    return this.#facts.scopes.toSorted();
  }

  beside(): [] {
    return [];
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
    if (this.#has(checkedScope(scope))) return sizeOfFiles(this.#all(scope));
    const [rows = []] = await this.transaction.ask(measureScope(this.place, scope));
    const sum = (isTrash: boolean): FileSum => {
      const row = rows.find(({ is_trash: found }) => found === isTrash);
      return row === undefined ? noFiles : { files: Number(row["files"]), bytes: Number(row["bytes"]) };
    };
    return { live: sum(false), trash: sum(true) };
  }

  async sizeOf(scope: string, path: string): Promise<number | null> {
    return (await this.#read({ scope, path }, false))?.bytes ?? null;
  }

  async bytesOf(scope: string, path: string): Promise<Buffer | null> {
    const content = (await this.#read({ scope, path }, true))?.content;
    return content ? Buffer.from(content) : null;
  }

  async #read(place: Place, withContents: boolean): Promise<KnownFile | null> {
    segmentsOf(place.path);
    checkedScope(place.scope);
    const [found] = await this.find([place], withContents);
    if (found === undefined) return null;
    if (!isKnownFile(found)) return checkFree(found);
    checkBytes(found.path, found.bytes);
    if (withContents && found.content === null) throw unsafe(found.path, notAsRecorded);
    return found;
  }

  async #listed(scope: string, prefix: string): Promise<ListedFile[]> {
    if (this.#has(checkedScope(scope))) return this.#all(scope);
    const [rows = []] = await this.transaction.ask(listFiles(this.place, scope, prefix));
    return rows.map((row) => ({
      path: String(row["path"]),
      bytes: Number(row["bytes"]),
      changedUs: Number(row["changed_us"]),
    }));
  }

  #has(scope: string): boolean {
    return this.#isComplete && (this.#scopes?.includes(scope) ?? true);
  }

  #all(scope: string): ListedFile[] {
    return Array.from(this.#known.values()).flatMap((file) =>
      isKnownFile(file) && file.scope === scope
        ? [{ path: file.path, bytes: file.bytes, changedUs: file.changedUs }]
        : [],
    );
  }

  #isFound(place: Place, withContents: boolean): boolean {
    const found = this.at(place);
    if (found === undefined) return false;
    return !withContents || !isKnownFile(found) || found.content !== null;
  }

  #note(found: KnownFile | FreePlace): void {
    const before = this.at(found);
    const kept = before !== undefined && isKnownFile(before) ? before.content : null;
    this.#known.set(placeKey(found), isKnownFile(found) ? { ...found, content: found.content ?? kept } : found);
  }
}

/** Throws `STORAGE_UNSAFE` if no file can be at the place. */
export function checkFree({ path, obstacle }: FreePlace): null {
  if (obstacle === "file") throw inFoldersPlace();
  if (obstacle === "folder") throw unsafe(path, noFile);
  return null;
}

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

function factsOf(row: Row | undefined): HomeFacts {
  if (row === undefined) return noFacts;
  const unknown = (row["unknown"] ?? noFacts.unknown) as OriginClass;
  const head = { seq: Number(row["seq"]), hash: String(row["hash"]) };
  return {
    scopes: row["scopes"] as unknown as string[],
    version: String(row["version"]),
    commits: Number(row["commits"]),
    head,
    filesHead: head,
    agedMs: Number(row["aged_ms"]),
    hasStated: row["has_stated"] === true,
    isBroken: row["has_last"] !== true || unknown === lostTrust,
    unknown,
  };
}
