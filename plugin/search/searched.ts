/**
 * What a family gives to a search, and what it gets. A search needs no capability of its own: the family lists and reads
 * files.
 */

/** A file in a listing of the host, with the time of its inode's last change. */
export interface SearchedFile {
  readonly path: string;
  readonly bytes: number;
  /** Microseconds since the epoch. */
  readonly changedUs: number;
}

/** What a search must know of an entry. A family can add fields, which it gets back with each hit. */
export interface SearchedEntry {
  readonly key: string;
  readonly value: string;
  /** Of two hits with the same score, the newer one comes first. Milliseconds since the epoch. */
  readonly updatedMs: number;
  /** The entry is never found from this time on; `null` if it does not expire. Milliseconds since the epoch. */
  readonly expiresMs: number | null;
}

/** Where entries are read. */
export interface EntrySource<Entry extends SearchedEntry> {
  /** The store's id, for hits. */
  readonly store: string;
  /**
   * Returns the entry in a file, or `null` if there is nothing to find: an internal or encrypted entry, no entry at all.
   * `undefined`: it cannot be read. No index has such a file, so each search meets it, and can say so.
   */
  readEntry(path: string): Entry | null | undefined;
}

/** One source of a search. A family passes only the stores that the caller has the right to search. */
export interface SearchedStore<Entry extends SearchedEntry> extends EntrySource<Entry> {
  /** How many files the host has listed to find these, of any kind. */
  readonly listed: number;
  /** The files of the entries. */
  readonly files: readonly SearchedFile[];
  /** The files of the index (`index-paths.ts`). Without them, every entry is read. */
  readonly indexFiles: readonly SearchedFile[];
  /** Returns the text of a file of the index, or `null` if it cannot be read. */
  readIndex(path: string): string | null;
}

/** What is in a file without an index. */
export interface FoundEntry<Entry extends SearchedEntry> {
  /** `null`: not read yet. Then `readEntry` returns it, if it is among the best. */
  readonly entry: Entry | null;
  /**
   * The folded words of the value that begin with one of the beginnings, each with a space behind it. `undefined` if the
   * engine has not looked for them.
   */
  readonly valueWords: string | undefined;
  /** Whether the key can have such a word. */
  readonly keyCanHave: boolean;
}

/** Lists a store. A search calls it once at most, and can forget what it returns. */
export type ListedStore<Entry extends SearchedEntry> = () => SearchedStore<Entry>;

export interface SearchRequest<Entry extends SearchedEntry> {
  /** Any text. There is no syntax in it. */
  readonly query: string;
  /** The caller's own first: the others cannot take its part of what one search reads. */
  readonly stores: readonly ListedStore<Entry>[];
  /** Above 50 it counts as 50. */
  readonly limit: number;
  readonly nowMs: number;
}

export interface Hit<Entry extends SearchedEntry> {
  readonly store: string;
  readonly path: string;
  readonly entry: Entry;
  readonly score: number;
  /** One line of the value around the words that were found. */
  readonly snippet: string;
}

export interface SearchResult<Entry extends SearchedEntry> {
  /** The best first. */
  readonly hits: readonly Hit<Entry>[];
  /** Files of entries that were not searched, because there was too much to read. */
  readonly filesLeftOut: number;
  /** Stores that were not even listed. */
  readonly storesLeftOut: number;
}

/** A store whose index is to be changed. */
export interface IndexedStore extends Omit<SearchedStore<SearchedEntry>, "store" | "listed" | "files"> {
  /** The folder of the index, such as `search`. */
  readonly folder: string;
  /** The files of the entries, if the call has listed them anyway; else `null`: a write costs the same in any store. */
  readonly files: readonly SearchedFile[] | null;
  /** Lists them all the same, for an index file that is missing or damaged, and for upkeep. */
  listFiles(): readonly SearchedFile[];
}

/** The changes of a store's entries, which its index must follow. */
export interface IndexChanges {
  readonly written: readonly WrittenEntry[];
  /** The paths of files that are gone. */
  readonly removed: readonly string[];
}

export interface WrittenEntry {
  readonly path: string;
  /** The size of the file as it was written. */
  readonly bytes: number;
  /** `null` if there is nothing to find in the file: the index gets its path, and no word of it. */
  readonly entry: SearchedEntry | null;
}
