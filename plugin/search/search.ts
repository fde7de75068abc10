/**
 * Text search over one or several stores. An entry is found if it has a word of the query; the best hits come first.
 *
 * An index saves reading the entries. Where it does not know a file, or people changed the file after the index was
 * written, the search reads the file itself. So an index changes only what a search costs.
 */
import { heldStores } from "./held-stores.ts";
import { hitsOf } from "./hits.ts";
import { readIndex } from "./index-file.ts";
import { isFresh, withoutRoom } from "./index-row.ts";
import { IndexedCandidates } from "./indexed-candidates.ts";
import { termsOf } from "./query.ts";
import { divideReads } from "./read-budget.ts";
import type { Reads } from "./read-budget.ts";
import { searchLimits } from "./search-limits.ts";
import type { SearchedEntry, SearchedFile, SearchedStore, SearchRequest, SearchResult } from "./searched.ts";

export function search<Entry extends SearchedEntry>(request: SearchRequest<Entry>): SearchResult<Entry> {
  const { query, nowMs } = request;
  const candidates = new IndexedCandidates<Entry>(termsOf(query));
  if (candidates.terms.length === 0) return { hits: [], filesLeftOut: 0, storesLeftOut: 0 };
  const { stores, filesLeftOut, storesLeftOut } = heldStores(request.stores);
  const indexes = divideReads(stores.map(indexOf), searchLimits.indexCostMax);
  const left: number[] = [];
  const unindexed = indexes.read.map(({ store, files, isWhole }) => {
    const unknown = addIndexed(candidates, { store, files }, nowMs);
    if (isWhole) return { store, files: unknown };
    // To read the entries that the rest of a large index is about, in its place, would take far longer.
    left.push(unknown.length);
    return { store, files: [] };
  });
  const entries = divideReads(unindexed, searchLimits.readCostMax);
  for (const { store, files } of entries.read) {
    for (const { path } of files) {
      const entry = store.readEntry(path);
      if (entry && !isExpired(entry, nowMs)) candidates.addRead(store, path, entry);
    }
  }
  return {
    hits: hitsOf(candidates, request.limit, (entry) => !isExpired(entry, nowMs)),
    filesLeftOut: left.reduce((sum, each) => sum + each, filesLeftOut + entries.filesLeftOut),
    storesLeftOut,
  };
}

const indexOf = <Entry extends SearchedEntry>(store: SearchedStore<Entry>): Reads<SearchedStore<Entry>> => ({
  store,
  files: store.indexFiles,
});

/** Adds what these files of the store's index know, and returns the files of which they do not know the present words. */
function addIndexed<Entry extends SearchedEntry>(
  candidates: IndexedCandidates<Entry>,
  { store, files }: Reads<SearchedStore<Entry>>,
  nowMs: number,
): SearchedFile[] {
  const unknown = new Map(store.files.map((file) => [file.path, file]));
  for (const { path, changedUs } of files) {
    const index = readIndex(store.readIndex(path) ?? "");
    if (!index) continue;
    const rows = index.rows.map((row) => {
      const file = row && unknown.get(row.path);
      if (!file || !isFresh(row, file, changedUs)) return null;
      unknown.delete(file.path);
      return isExpired(row, nowMs) ? null : row;
    });
    candidates.addIndexed(store, rows, index.lines);
  }
  return [...unknown.values()];
}

/** The files that each search reads because the index does not have their words, except those for which it has no room. */
export function unindexedFiles(store: SearchedStore<SearchedEntry>): SearchedFile[] {
  const unknown = new Map(store.files.map((file) => [file.path, file]));
  for (const { path, changedUs } of store.indexFiles) {
    for (const row of readIndex(store.readIndex(path) ?? "")?.rows ?? []) {
      const file = row && unknown.get(row.path);
      if (!file) continue;
      if (isFresh(row, file, changedUs) || row.changedUs === withoutRoom(file.changedUs)) unknown.delete(file.path);
    }
  }
  return [...unknown.values()];
}

const isExpired = ({ expiresMs }: { readonly expiresMs: number | null }, nowMs: number): boolean =>
  expiresMs !== null && expiresMs <= nowMs;
