/** The search index of a store: which files it is about, and how it follows the changes of a call. */
import type { ListedFile } from "../../shared/abi.ts";
import { indexFilesIn, isIndexFile } from "../search/index-paths.ts";
import { indexWrites, refreshedIndex } from "../search/index-writes.ts";
import type { IndexWrite } from "../search/index-writes.ts";
import { searchLimits } from "../search/search-limits.ts";
import type {
  IndexChanges,
  IndexedStore,
  SearchedEntry,
  SearchedFile,
  SearchedStore,
  WrittenEntry,
} from "../search/searched.ts";
import type { Entry } from "./entry-file.ts";
import { isForModels, kindOf, placeOf } from "./key-path.ts";
import type { EntryKind } from "./key-path.ts";

/** No key gives a name that begins like this. */
export const indexFolder = "_.index";

export const isIndexPath = (path: string): boolean => isIndexFile(path, indexFolder);

/** What a search can find: an entry that models see, unless its value is opaque. */
export type FoundWords = SearchedEntry & { readonly entry: Entry };

export function wordsOf(entry: Entry): FoundWords | null {
  if (entry.encrypted || !isForModels(entry)) return null;
  const { key, value, updated, expires } = entry;
  const updatedMs = updated === null ? 0 : Date.parse(updated);
  return { key, value: value.content, updatedMs, expiresMs: expires === null ? null : Date.parse(expires), entry };
}

/** The files that a search is about. What is internal, or has a namespace, never gets into the index. */
export function searchedFiles(
  listing: readonly ListedFile[],
  store: string,
): Pick<SearchedStore<SearchedEntry>, "listed" | "files" | "indexFiles"> {
  const files = listing.filter(({ path }) => isSearched(path, store)).map(searchedFile);
  return { listed: listing.length, files, indexFiles: indexFilesOf(listing) };
}

/** The files of the index in a listing of the store, or of its folder. */
export const indexFilesOf = (listing: readonly ListedFile[]): SearchedFile[] =>
  indexFilesIn(listing.filter(({ path }) => isIndexPath(path)).map(searchedFile), indexFolder);

export const searchedFile = ({ path, bytes, changedUs = 0 }: ListedFile): SearchedFile => ({ path, bytes, changedUs });

const unsearched = /^(?:_\.by\/[^/]*\/)?_\.(?:in|ns|index)\//;

function isSearched(path: string, store: string): boolean {
  if (unsearched.test(path)) return false;
  const place = placeOf(path, store);
  return place !== null && isForModels(place);
}

export const filesOfKind = (files: readonly ListedFile[], store: string, kind: EntryKind): ListedFile[] =>
  files.filter(({ path }) => {
    const place = placeOf(path, store);
    return place !== null && kindOf(place) === kind;
  });

/** What the index's files are made from. `listing`: that of the whole store, if the call has it. */
export interface IndexSource extends Pick<SearchedStore<SearchedEntry>, "readIndex" | "readEntry"> {
  readonly listing: readonly ListedFile[] | null;
  readonly list: () => readonly ListedFile[];
  readonly listIndex: () => readonly ListedFile[];
}

/** The changes of a call that its store's index must follow. */
export class IndexedChanges {
  readonly #store: string;
  readonly #written = new Map<string, WrittenEntry>();
  readonly #removed = new Set<string>();

  constructor(store: string) {
    this.#store = store;
  }

  write(path: string, bytes: number, entry: Entry): void {
    if (!isSearched(path, this.#store)) return;
    this.#removed.delete(path);
    this.#written.set(path, { path, bytes, entry: wordsOf(entry) });
  }

  remove(path: string): void {
    if (!isSearched(path, this.#store)) return;
    this.#written.delete(path);
    this.#removed.add(path);
  }

  /** What to stage after the last change. */
  writes(source: IndexSource): IndexWrite[] {
    if (this.#written.size + this.#removed.size === 0) return [];
    return indexWrites(this.#indexed(source), this.#changes);
  }

  /** The same for upkeep: also indexes what people have written. */
  writesOfUpkeep(source: IndexSource): IndexWrite[] {
    return refreshedIndex(this.#indexed(source), this.#changes, searchLimits.upkeepCostMax).writes;
  }

  get #changes(): IndexChanges {
    return { written: [...this.#written.values()], removed: [...this.#removed] };
  }

  #indexed({ listing, list, listIndex, ...read }: IndexSource): IndexedStore {
    const searched = (files: readonly ListedFile[]): readonly SearchedFile[] => searchedFiles(files, this.#store).files;
    return {
      folder: indexFolder,
      indexFiles: indexFilesOf(listing ?? listIndex()),
      files: listing && searched(listing),
      listFiles: () => searched(list()),
      ...read,
    };
  }
}
