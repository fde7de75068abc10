/**
 * Keeps a store's index up to date. A tool stages what these functions return as the last files of its change set: the
 * index must not be older than the entries that it is about.
 */
import { fileOf, splitFor } from "../kit/linear-hashing.ts";
import { EditedIndex } from "./edited-index.ts";
import { indexText, readIndex } from "./index-file.ts";
import { indexFilesCount, indexPath } from "./index-paths.ts";
import { isFresh, notIndexed, withoutRoom, writtenTogether } from "./index-row.ts";
import type { IndexRow } from "./index-row.ts";
import { readCostOf } from "./read-budget.ts";
import { searchLimits } from "./search-limits.ts";
import type { IndexChanges, IndexedStore, SearchedFile } from "./searched.ts";

export interface IndexWrite {
  readonly path: string;
  readonly text: string;
}

/**
 * Returns the index files that a change of entries changes. Where the store is listed, it also indexes some of the entries
 * that people edited; else a search reads them.
 */
export function indexWrites(store: IndexedStore, changes: IndexChanges): IndexWrite[] {
  const update = new IndexUpdate(store, changes);
  update.indexChanges();
  update.refresh(searchLimits.refreshCostMax);
  return update.writes();
}

/**
 * The same for upkeep, with the whole index brought up to date. Reads entries of this cost (`readCostOf`), but at least
 * one. Until `isComplete` is true, call it again after the writes are committed.
 */
export function refreshedIndex(
  store: IndexedStore,
  changes: IndexChanges,
  costMax: number,
): { readonly writes: IndexWrite[]; readonly isComplete: boolean } {
  const update = new IndexUpdate(store, changes);
  const isComplete = update.refreshAll(costMax);
  update.indexChanges();
  return { writes: update.writes(), isComplete };
}

interface ListedAt {
  readonly files: ReadonlyMap<string, SearchedFile>;
}

class IndexUpdate {
  readonly #store: IndexedStore;
  readonly #changes: IndexChanges;
  /** The files that the call does not change; `null` as long as nothing needs them. */
  #files: Map<string, SearchedFile> | null;
  readonly #open = new Map<number, EditedIndex>();
  /** The number of index files. */
  #count: number;

  constructor(store: IndexedStore, changes: IndexChanges) {
    this.#store = store;
    this.#changes = changes;
    this.#files = store.files && this.#unchanged(store.files);
    this.#count = Math.max(1, indexFilesCount(store.indexFiles, store.folder));
  }

  indexChanges(): void {
    for (const path of this.#changes.removed) this.#openFor(path).remove(path);
    for (const { path, bytes, entry } of this.#changes.written) {
      this.#openFor(path).put({ path, bytes, changedUs: writtenTogether }, entry);
      this.#splitIfFull();
    }
  }

  /** Reads entries whose words the open files do not have. */
  refresh(costMax: number): void {
    if (this.#files === null) return;
    let costLeft = costMax;
    for (const index of this.#open.values()) costLeft = this.#refreshFile(index, costLeft);
  }

  /** The same for every file of the index. Forgets those that are right, because all together can be large. */
  refreshAll(costMax: number): boolean {
    this.#listed();
    let costLeft = costMax;
    for (let number = 1; number <= this.#count && costLeft > 0; number++) {
      const index = this.#openFile(number, { findsAll: true });
      costLeft = this.#refreshFile(index, costLeft);
      if (!index.isChanged) this.#open.delete(number);
    }
    return costLeft > 0;
  }

  writes(): IndexWrite[] {
    const { folder } = this.#store;
    return Array.from(this.#open, ([number, index]) => ({
      path: indexPath(folder, number),
      text: indexText(index.content),
    }));
  }

  /** Returns what can still be read. */
  #refreshFile(index: EditedIndex, costMax: number): number {
    let costLeft = costMax;
    for (const { path, changedUs } of index.rows) {
      if (changedUs !== notIndexed || costLeft <= 0) continue;
      const file = this.#listed().get(path);
      if (!file) continue;
      costLeft -= readCostOf(file);
      const entry = this.#store.readEntry(path);
      // A row of a file that cannot be read would have every write list the store.
      if (entry === undefined) this.#openFor(path).remove(path);
      else this.#openFor(path).put(file, entry);
      this.#splitIfFull();
    }
    return costLeft;
  }

  #openFor(path: string): EditedIndex {
    return this.#openFile(fileOf(path, this.#count), { findsAll: false });
  }

  #openFile(number: number, { findsAll }: { readonly findsAll: boolean }): EditedIndex {
    const open = this.#open.get(number);
    if (open) return open;
    const path = indexPath(this.#store.folder, number);
    const file = this.#store.indexFiles.find((each) => each.path === path);
    const content = file ? readIndex(this.#store.readIndex(path) ?? "") : null;
    const index = new EditedIndex(content, content && file ? file.bytes : 0);
    this.#open.set(number, index);
    const changedUs = (content && file?.changedUs) ?? -1;
    const isBehind = content === null || index.rows.some((row) => row.changedUs === notIndexed);
    const files = isBehind ? this.#listed() : this.#files;
    if (files === null) index.keepTime(changedUs);
    else {
      this.#checkRows(index, number, { files, changedUs });
      this.#addMissing(index, number, { files, afterUs: findsAll ? -1 : changedUs });
    }
    return index;
  }

  #listed(): Map<string, SearchedFile> {
    return (this.#files ??= this.#unchanged(this.#store.listFiles()));
  }

  #unchanged(files: readonly SearchedFile[]): Map<string, SearchedFile> {
    const unchanged = new Map(files.map((file) => [file.path, file]));
    for (const path of this.#changes.removed) unchanged.delete(path);
    for (const { path } of this.#changes.written) unchanged.delete(path);
    return unchanged;
  }

  /** Removes what does not belong here, and marks what is not the words of the present files. */
  #checkRows(
    index: EditedIndex,
    number: number,
    { files, changedUs }: ListedAt & { readonly changedUs: number },
  ): void {
    for (const row of index.rows) {
      const file = files.get(row.path);
      if (!file || fileOf(row.path, this.#count) !== number) index.remove(row.path);
      else index.setChangedUs(row, timeKnown(row, file, changedUs));
    }
  }

  /** Adds the files that were changed after a time and are not in the index: people made them. */
  #addMissing(index: EditedIndex, number: number, { files, afterUs }: ListedAt & { readonly afterUs: number }): void {
    const known = new Set(index.rows.map(({ path }) => path));
    for (const file of files.values()) {
      if (file.changedUs <= afterUs || known.has(file.path) || fileOf(file.path, this.#count) !== number) continue;
      index.put({ ...file, changedUs: notIndexed }, null);
    }
  }

  #splitIfFull(): void {
    while (this.#units() > this.#count * searchLimits.indexFileBytes) {
      const source = this.#openFile(splitFor(this.#count + 1), { findsAll: false });
      this.#count++;
      const added = new EditedIndex(null, 0);
      this.#open.set(this.#count, added);
      source.moveTo(added, (path) => fileOf(path, this.#count) === this.#count);
    }
  }

  /** About the size of all index files. */
  #units(): number {
    const open = new Set(Array.from(this.#open.keys(), (number) => indexPath(this.#store.folder, number)));
    const closed = this.#store.indexFiles.filter(({ path }) => !open.has(path)).map(({ bytes }) => bytes);
    return [...closed, ...Array.from(this.#open.values(), ({ units }) => units)].reduce((sum, each) => sum + each, 0);
  }
}

/** What a row says about the time of change when its index file is written again. */
function timeKnown(row: IndexRow, file: SearchedFile, indexChangedUs: number): number {
  if (isFresh(row, file, indexChangedUs)) return file.changedUs;
  return row.changedUs === withoutRoom(file.changedUs) ? row.changedUs : notIndexed;
}
