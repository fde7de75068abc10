import { searchLimits } from "./search-limits.ts";
import type { ListedStore, SearchedEntry, SearchedStore } from "./searched.ts";

interface Held<Entry extends SearchedEntry> {
  readonly stores: readonly SearchedStore<Entry>[];
  readonly filesLeftOut: number;
  readonly storesLeftOut: number;
}

/**
 * Lists the stores, the caller's own first. If their listings are too large together, the largest one of the others is
 * left out, so that full stores never push out those with few entries. The last stores are left out if listing all of
 * them takes too long.
 */
export function heldStores<Entry extends SearchedEntry>(stores: readonly ListedStore<Entry>[]): Held<Entry> {
  const { heldFilesMax, listedFilesMax } = searchLimits;
  const held: SearchedStore<Entry>[] = [];
  let [files, listed, filesLeftOut, seen] = [0, 0, 0, 0];
  for (const list of stores) {
    if (listed > listedFilesMax) break;
    const store = list();
    held.push(store);
    seen++;
    listed += store.listed;
    files += store.files.length;
    while (files > heldFilesMax && held.length > 1) {
      const left = takeLargest(held);
      files -= left;
      filesLeftOut += left;
    }
  }
  return { stores: held, filesLeftOut, storesLeftOut: stores.length - seen };
}

/** Removes the largest store after the first, and returns the number of its files. */
function takeLargest(held: SearchedStore<SearchedEntry>[]): number {
  const sizes = held.map(({ files }, at) => (at === 0 ? -1 : files.length));
  const [store] = held.splice(sizes.indexOf(Math.max(...sizes)), 1);
  return store?.files.length ?? 0;
}
