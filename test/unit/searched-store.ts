/** A store for tests of the search: entries and an index, with times of change as a host lists them. */
import { indexFilesIn } from "../../plugin/search/index-paths.ts";
import { indexWrites, refreshedIndex } from "../../plugin/search/index-writes.ts";
import { search } from "../../plugin/search/search.ts";
import type { IndexedStore, SearchedEntry, SearchedFile, SearchedStore } from "../../plugin/search/searched.ts";
import { utf8Bytes } from "../../shared/text.ts";

export type StoredEntry = Partial<SearchedEntry> & { readonly value: string };

/** How often the kernel's clock of the inodes moves on, on many systems. */
const tickUs = 4000;

export class TestStore {
  readonly store: string;
  /** The paths of the entries that were read since this was emptied. */
  readonly read: string[] = [];
  /** Whether writes have the listing of the store. Without it, they list it only for a damaged index. */
  isListed = false;
  /** Runs once, after the next write has made its index and before it is stored. */
  beforeCommit: (() => void) | null = null;
  readonly #files = new Map<string, SearchedFile & { readonly text: string }>();
  #nowUs = 1_764_000_000_000_000;

  constructor(store: string, entries: Readonly<Record<string, StoredEntry>> = {}) {
    this.store = store;
    for (const [key, entry] of Object.entries(entries)) this.write(key, entry);
  }

  /** Writes as a tool does: the entry and then the index in one change set, at one time. `null`: nothing to find. */
  write(key: string, entry: StoredEntry | null): void {
    const text = JSON.stringify(entry);
    const path = pathOf(key);
    const written = [{ path, bytes: utf8Bytes(text), entry: entryIn(path, text) }];
    const index = indexWrites(this.#source, { written, removed: [] });
    this.beforeCommit?.();
    this.beforeCommit = null;
    this.#put([{ path, text }, ...index]);
  }

  delete(key: string): void {
    const path = pathOf(key);
    const index = indexWrites(this.#source, { written: [], removed: [path] });
    this.#files.delete(path);
    this.#put(index);
  }

  /** Writes as a person does, who leaves the index as it is. `null` deletes the file. */
  edit(path: string, text: string | null): void {
    if (text === null) this.#files.delete(path);
    else this.#put([{ path, text }]);
  }

  /** The same within the tick of the clock in which the last write of a tool was. */
  editAtOnce(path: string, text: string): void {
    this.#nowUs -= tickUs;
    this.#put([{ path, text }]);
  }

  /** Brings the whole index up to date. Returns whether nothing is left to be done. */
  refresh(costMax = Infinity): boolean {
    const { writes, isComplete } = refreshedIndex(this.#source, { written: [], removed: [] }, costMax);
    this.#put(writes);
    return isComplete;
  }

  /** Every file gets another time of change, as when a backup is put back. */
  restore(): void {
    for (const [path, { text }] of this.#files) this.#put([{ path, text }]);
  }

  get indexFiles(): SearchedFile[] {
    return indexFilesIn(this.#listing, "search");
  }

  textOf(path: string): string {
    return this.#files.get(path)?.text ?? "";
  }

  /** For a search that uses the index. */
  get indexed(): SearchedStore<SearchedEntry> {
    return { ...this.#source, files: this.#entries, store: this.store, listed: this.#files.size };
  }

  /** For a search that reads every entry. */
  get unindexed(): SearchedStore<SearchedEntry> {
    return { ...this.indexed, indexFiles: [] };
  }

  get #source(): IndexedStore {
    return {
      folder: "search",
      files: this.isListed ? this.#entries : null,
      listFiles: () => this.#entries,
      indexFiles: this.indexFiles,
      readIndex: (path) => this.textOf(path),
      readEntry: (path) => {
        this.read.push(path);
        return entryIn(path, this.textOf(path));
      },
    };
  }

  get #entries(): SearchedFile[] {
    return this.#listing.filter(({ path }) => path.startsWith("entries/"));
  }

  get #listing(): SearchedFile[] {
    return [...this.#files.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
  }

  #put(files: readonly { readonly path: string; readonly text: string }[]): void {
    this.#nowUs += tickUs;
    for (const { path, text } of files) {
      this.#files.set(path, { path, text, bytes: utf8Bytes(text), changedUs: this.#nowUs });
    }
  }
}

export const pathOf = (key: string): string => `entries/${key}`;

export const jsonOf = (value: string): string => JSON.stringify({ value });

/** The keys that a search through the index finds, sorted. */
export function keysFound(query: string, store: TestStore): string[] {
  const { hits } = search({ query, stores: [() => store.indexed], limit: 50, nowMs: 1 });
  return hits.map(({ entry }) => entry.key).toSorted();
}

/** The keys of the entries that a search must read because the index does not know them, sorted. */
export function keysRead(store: TestStore): string[] {
  store.read.length = 0;
  keysFound("noentryhasthis", store);
  return store.read.map((path) => path.slice("entries/".length)).toSorted();
}

/** All files of the index. */
export const indexText = (store: TestStore): string => store.indexFiles.map(({ path }) => store.textOf(path)).join("");

function entryIn(path: string, text: string): SearchedEntry | null {
  const entry = JSON.parse(text || "null") as StoredEntry | null;
  return entry && { key: path.slice("entries/".length), updatedMs: 0, expiresMs: null, ...entry };
}
