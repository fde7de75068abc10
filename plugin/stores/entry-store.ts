/** The entries of one store that the caller reaches. */
import type { ListedFile } from "../../shared/abi.ts";
import { isEnough, ownStoreScope, scopeOfStore } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import { quoted, utf8Bytes } from "../../shared/text.ts";
import { accessTo, NoUtf8, now, Scope } from "../kit/capabilities.ts";
import type { StoreAccess } from "../kit/capabilities.ts";
import { meantBy } from "../kit/hidden-text.ts";
import { ToolError } from "../kit/tool-error.ts";
import { readCostOf } from "../search/read-budget.ts";
import { searchLimits } from "../search/search-limits.ts";
import { unindexedFiles } from "../search/search.ts";
import type { SearchedStore } from "../search/searched.ts";
import {
  countsOf,
  countsPath,
  countsText,
  hasRoom,
  mostOf,
  readCounts,
  withOneLess,
  withOneMore,
} from "./entry-counts.ts";
import type { EntryCounts } from "./entry-counts.ts";
import { formatEntry, parseEntry } from "./entry-file.ts";
import type { Entry, Unreadable } from "./entry-file.ts";
import { byFolder, forModels, isForModels, kindOf, pathOf, pathOfKey, placeOf } from "./key-path.ts";
import type { EntryId, EntryKind } from "./key-path.ts";
import { pathFor } from "./memory-path.ts";
import { filesOfKind, IndexedChanges, indexFolder, isIndexPath, searchedFiles, wordsOf } from "./store-index.ts";
import type { FoundWords, IndexSource } from "./store-index.ts";
import { noPlainFile, textOfOther, unreadable } from "./unreadable.ts";

/** An entry and its file. */
export interface FoundEntry extends Entry {
  readonly path: string;
}

/** A file that cannot be read as the entry that its place says. */
export interface UnreadableFile extends Pick<EntryId, "key" | "owner"> {
  readonly path: string;
  /** As a clause about "it". */
  readonly reason: string;
  /** For an answer's `shows`: the reason can quote what is in the file. */
  readonly place: string;
}

export class EntryStore {
  readonly id: string;
  readonly #scope: Scope;
  readonly #level: AccessLevel | null;
  readonly #changes: IndexedChanges;
  /** Everything in the store, as it was when something needed it. Writes do not: they would grow with the store. */
  #listing: readonly ListedFile[] | null = null;
  /** The files of entries, by path, as this call has left them. */
  #files: Map<string, ListedFile> | null = null;
  /** Those that this call has written or moved to the trash. */
  readonly #touched = new Map<string, ListedFile | null>();
  #counts: EntryCounts | null = null;
  #now: string | null = null;
  /** By path, why a file that was read is no entry. */
  readonly #unreadable = new Map<string, string>();

  constructor({ store, level }: Pick<StoreAccess, "store" | "level">) {
    this.id = store;
    this.#level = level;
    this.#scope = new Scope(scopeOfStore(store));
    this.#changes = new IndexedChanges(store);
  }

  /** What an answer's `shows` calls a file. */
  place(path: string): string {
    return this.#scope.place(path);
  }

  /** Throws `ACCESS_DENIED`. The host checks the same: a tool that did not ask would be stopped as hostile. */
  check(needed: AccessLevel): this {
    if (isEnough(this.#level, needed)) return this;
    throw new ToolError("ACCESS_DENIED", "Access denied to this store");
  }

  get now(): string {
    this.#now ??= now();
    return this.#now;
  }

  /** The times of an entry that is written now. `ttl`: seconds until it ends; never, if there is none. */
  times(replaced: Entry | null, ttl: number | undefined): Pick<Entry, "created" | "updated" | "expires"> {
    const expires = ttl === undefined ? null : new Date(Date.parse(this.now) + ttl * 1000).toISOString();
    return { created: replaced?.created ?? this.now, updated: this.now, expires };
  }

  /** The files of entries, whoever made them. */
  get files(): readonly ListedFile[] {
    return [...this.#present().values()];
  }

  /** Paths of files in places where no entry lies. */
  get strayPaths(): readonly string[] {
    const paths = this.#listed().map(({ path }) => path);
    return paths.filter((path) => !isKept(path, this.id));
  }

  /** The entry at a path, or why it cannot be read; `null` if there is none, or if it has expired. */
  read(path: string): FoundEntry | Unreadable | null {
    const entry = this.readAny(path);
    if (entry === null) return null;
    if ("unreadable" in entry) {
      this.#unreadable.set(path, entry.unreadable);
      return entry;
    }
    return entry.expires !== null && entry.expires <= this.now ? null : { ...entry, path };
  }

  /** As `read`, but also an expired entry. */
  readAny(path: string): Entry | Unreadable | null {
    const place = placeOf(path, this.id);
    const file = place && this.#textOf(path);
    return typeof file === "string" && place ? parseEntry(file, place, this.id) : (file as Unreadable | null);
  }

  /** The entry at a path; also `null` if it cannot be read. */
  entryAt(path: string): FoundEntry | null {
    const entry = this.read(path);
    return entry === null || "unreadable" in entry ? null : entry;
  }

  /** The entry of one creator; also `null` if it cannot be read. */
  find(id: EntryId): FoundEntry | null {
    return this.entryAt(pathOf(id, this.id));
  }

  /** What tools for models see under a key: one entry for each creator, the store's owner first. */
  visible(key: string): FoundEntry[] {
    const found = this.#visibleAt(key);
    const meant = found.length === 0 ? meantBy(key) : null;
    return meant === null ? found : this.#visibleAt(meant);
  }

  /** The entry of one creator among them. Lists nothing: others can have made many. */
  visibleOf(owner: string, key: string): FoundEntry | null {
    if (meantBy(key) !== null) return this.visible(key).find((entry) => entry.owner === owner) ?? null;
    const entry = this.find(forModels(owner, key));
    return isVisible(entry) ? entry : null;
  }

  #visibleAt(key: string): FoundEntry[] {
    const end = pathOfKey(key);
    const others = this.#scope.list(`${byFolder}/`).filter(({ path }) => path.endsWith(`/${end}`));
    const paths = [end, ...others.map(({ path }) => path)];
    return paths
      .map((path) => this.read(path))
      .filter((entry) => isVisible(entry) && entry.key === key) as FoundEntry[];
  }

  /** Why the file in the place of the owner's entry with a key cannot be read; `null` if it can, or there is none. */
  faultAt(key: string): string | null {
    const entry = this.read(pathOfKey(key));
    return entry !== null && "unreadable" in entry ? entry.unreadable : null;
  }

  /**
   * What is shown of each entry that tools for models see below a folder, by key and then by creator, the store's owner
   * first. All values together can be larger than the guest's memory, so `show` must not keep the entry.
   */
  shownBelow<Shown>(prefix: string, show: (entry: FoundEntry) => Shown): Shown[] {
    const found = Array.from(this.eachVisibleBelow(prefix), (entry) => [entry.key, entry.path, show(entry)] as const);
    return found.toSorted((a, b) => compare(a[0], b[0]) || compare(a[1], b[1])).map(([, , shown]) => shown);
  }

  /** The entries themselves, one at a time, in the order of the files. */
  *eachVisibleBelow(prefix: string): Generator<FoundEntry> {
    for (const { path } of this.filesBelow(prefix)) {
      const entry = this.read(path);
      if (isVisible(entry) && entry.key.startsWith(prefix)) yield entry;
    }
  }

  /**
   * The files that were read where entries for models lie, and are none: nobody must take them for missing. Nothing for
   * callers who can only search: they see nothing of what their words do not find.
   */
  get unreadable(): UnreadableFile[] {
    if (!isEnough(this.#level, "read")) return [];
    return Array.from(this.#unreadable).flatMap(([path, reason]) => {
      const place = placeOf(path, this.id);
      return place !== null && isForModels(place)
        ? { path, key: place.key ?? path, owner: place.owner, reason, place: this.place(path) }
        : [];
    });
  }

  /** The files whose paths begin with a prefix. Lists no others. */
  listBelow(prefix: string): ListedFile[] {
    return this.#scope.list(prefix);
  }

  /** What the engine finds in a file (`Scope.wordsOf`). */
  wordsOf(path: string, beginnings: string): string | null | undefined {
    return this.#scope.wordsOf(path, beginnings);
  }

  /** The files in which such entries can lie: their places say nothing against it. */
  filesBelow(prefix: string): readonly ListedFile[] {
    return this.files.filter(({ path }) => {
      const place = placeOf(path, this.id);
      return place !== null && isForModels(place) && (place.key?.startsWith(prefix) ?? true);
    });
  }

  /** For a search, which can hold the listings of many stores: only what it needs of them. */
  get searched(): SearchedStore<FoundWords> {
    return { store: this.id, ...searchedFiles(this.#listing ?? this.#scope.list(), this.id), ...this.#readers };
  }

  /**
   * Writes an entry. Front matter of the replaced or renamed entry that is not ours stays. A file in its place that is
   * not UTF-8 text goes to the trash; returns where it is then. Throws `ENTRY_UNREADABLE` if something else is in the
   * place of the entry: a person's file must not be lost.
   */
  write(entry: Omit<Entry, "frontMatter"> & Partial<Entry>, replaced: Entry | null): string | null {
    const path = pathOf(entry, this.id);
    const trashed = replaced === null ? this.#makeRoom(path, entry) : null;
    this.put(path, entry, replaced?.frontMatter ?? entry.frontMatter ?? null);
    if (replaced === null && this.#counts !== null) this.#scope.write(countsPath, countsText(this.#counts));
    return trashed;
  }

  /** Writes an entry to its path, whatever is there. */
  put(path: string, entry: Omit<Entry, "frontMatter">, frontMatter: string | null): void {
    const file = formatEntry(entry, frontMatter);
    const bytes = utf8Bytes(file);
    this.#scope.write(path, file);
    this.#note(path, { path, bytes, changedUs: 0 });
    this.#changes.write(path, bytes, { ...entry, frontMatter });
  }

  trash({ path }: Pick<FoundEntry, "path">): string {
    const trashed = this.#scope.trash(path);
    this.#note(path, null);
    this.#changes.remove(path);
    this.#countOneLess(path);
    return trashed;
  }

  /** Whether searches are slow because the index lacks many entries, and how many. */
  get unindexed(): { readonly isSlow: boolean; readonly count: number } {
    const files = unindexedFiles(this.searched);
    const cost = files.reduce((sum, file) => sum + readCostOf(file), 0);
    return { isSlow: cost > searchLimits.unindexedCostMax, count: files.length };
  }

  /** Stages the search index. To be called after the last change: the index must not be older than the entries. */
  saveIndex(): void {
    for (const { path, text } of this.#changes.writes(this.#source)) this.#scope.write(path, text);
  }

  /** The same for upkeep, which also indexes what people have written. */
  saveWholeIndex(): void {
    for (const { path, text } of this.#changes.writesOfUpkeep(this.#source)) this.#scope.write(path, text);
  }

  #listed(): readonly ListedFile[] {
    this.#listing ??= this.#scope.list();
    return this.#listing;
  }

  get #source(): IndexSource {
    return {
      listing: this.#listing,
      list: () => this.#listed(),
      listIndex: () => this.#scope.list(`${indexFolder}/`),
      ...this.#readers,
    };
  }

  #present(): Map<string, ListedFile> {
    if (this.#files === null) {
      const entries = this.#listed().filter(({ path }) => placeOf(path, this.id) !== null);
      this.#files = new Map(entries.map((file) => [file.path, file]));
      for (const [path, file] of this.#touched) this.#note(path, file);
    }
    return this.#files;
  }

  /** `null`: it is gone. */
  #note(path: string, file: ListedFile | null): void {
    this.#touched.set(path, file);
    if (file === null) this.#files?.delete(path);
    else this.#files?.set(path, file);
  }

  get #readers(): Pick<SearchedStore<FoundWords>, "readIndex" | "readEntry"> {
    return {
      readIndex: (path) => this.#readIndex(path),
      readEntry: (path) => {
        const entry = this.read(path);
        if (entry !== null && "unreadable" in entry) return undefined;
        return isVisible(entry) ? wordsOf(entry) : null;
      },
    };
  }

  #textOf(path: string): string | Unreadable | null {
    try {
      return this.#scope.read(path);
    } catch (error) {
      if (error instanceof NoUtf8) return textOfOther(error);
      const code = error instanceof ToolError ? error.code : "";
      if (code === "STORAGE_UNSAFE") return noPlainFile;
      throw error;
    }
  }

  /** What the writer does not see, because a person has hidden it or it is no text, goes to the trash. */
  #makeRoom(path: string, id: EntryId): string | null {
    const present = this.read(path);
    const isNoText = present !== null && "unreadable" in present && present.isNoText === true;
    if (present !== null && "unreadable" in present && !isNoText) {
      // If the whole folder is unsafe, that is told.
      this.#listed();
      const shown = isForModels(id) ? pathFor(this.id, id.owner, id.key) : `the key ${quoted(id.key)}`;
      throw unreadable("write", shown, present.unreadable);
    }
    this.#countOneMore(path, kindOf(id));
    const trashed = present === null ? null : this.trash({ path });
    return isNoText ? trashed : null;
  }

  /**
   * What models see and what they do not counts apart: a limit must not tell anybody how many hidden entries there are.
   * Expired entries do not count. They are read only when it matters.
   */
  #countOneMore(path: string, kind: EntryKind): void {
    this.#counts ??= readCounts(this.#readIndex(countsPath));
    if (this.#counts === null || !hasRoom(this.#counts, kind)) {
      this.#counts = countsOf(this.files, this.id);
      const others = filesOfKind(this.files, this.id, kind).filter((file) => file.path !== path);
      // Items do not expire.
      const isLive = ({ path: each }: ListedFile): boolean => kind === "items" || this.read(each) !== null;
      if (others.length >= mostOf(kind) && others.filter(isLive).length >= mostOf(kind)) {
        throw new ToolError("KEY_LIMIT_REACHED", "Key limit reached for this store");
      }
    }
    this.#counts = withOneMore(this.#counts, kind);
  }

  /** Else a full store in which entries come and go would be listed by each write. */
  #countOneLess(path: string): void {
    const place = placeOf(path, this.id);
    this.#counts ??= readCounts(this.#readIndex(countsPath));
    const counts = place && this.#counts && withOneLess(this.#counts, kindOf(place));
    if (counts === null) return;
    this.#counts = counts;
    this.#scope.write(countsPath, countsText(counts));
  }

  #readIndex(path: string): string | null {
    const text = this.#textOf(path);
    return typeof text === "string" ? text : null;
  }
}

/** The caller's own, by whose id others know the caller. */
export const ownStore = (): EntryStore => new EntryStore(accessTo(ownStoreScope));

export const isVisible = (entry: FoundEntry | Unreadable | null): entry is FoundEntry =>
  entry !== null && !("unreadable" in entry) && isForModels(entry);

/** Whether a path is of what is made from the entries. */
export const isDerivedPath = (path: string): boolean => isIndexPath(path) || path === countsPath;

/** Whether tools read what is at a path. */
export const isKept = (path: string, store: string): boolean => placeOf(path, store) !== null || isDerivedPath(path);

export const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
