/** What one search lists, reads and holds has a limit, and full stores of strangers use up no other store's part. */
import { expect, test } from "vitest";

import { indexPath } from "../../plugin/search/index-paths.ts";
import { searchLimits } from "../../plugin/search/search-limits.ts";
import { search } from "../../plugin/search/search.ts";
import type { ListedStore, SearchedEntry, SearchedFile } from "../../plugin/search/searched.ts";
import { jsonOf, TestStore } from "./searched-store.ts";

const own = new TestStore("own", { "my boat": { value: "boat" } });
const friend = new TestStore("friend", { "a boat": { value: "boat" } });

interface Stranger {
  readonly list: ListedStore<SearchedEntry>;
  /** The bytes of the index files that were read. */
  bytesRead: number;
  wasListed: boolean;
}

/** A store with so many full index files, and so many files of entries that an index knows. */
function stranger(store: string, indexFiles: number, entries = 0): Stranger {
  const { indexFileBytes: bytes } = searchLimits;
  const files = numbered(entries, (at) => ({ path: `e${at}`, bytes: 1_000, changedUs: 1 }));
  const indexes = numbered(indexFiles, (at) => ({ path: indexPath("search", at + 1), bytes, changedUs: 1 }));
  const listed = entries + indexFiles;
  const readIndex = (): null => {
    made.bytesRead += bytes;
    return null;
  };
  const made: Stranger = {
    bytesRead: 0,
    wasListed: false,
    list: () => {
      made.wasListed = true;
      return { store, listed, files, indexFiles: indexes, readIndex, readEntry: () => null };
    },
  };
  return made;
}

const numbered = <Item>(length: number, item: (at: number) => Item): Item[] =>
  Array.from({ length }, (_, at) => item(at));

function searchAmong(strangers: readonly Stranger[], first = own): ReturnType<typeof search> {
  const stores = [() => first.indexed, ...strangers.map(({ list }) => list), () => friend.indexed];
  return search({ query: "boat", stores, limit: 9, nowMs: 1 });
}

const storesOf = ({ hits }: ReturnType<typeof search>): string[] => hits.map(({ store }) => store).toSorted();

test("large indexes of strangers are read in equal parts, up to a limit together", () => {
  const strangers = numbered(4, (at) => stranger(`stranger-${at}`, 450));
  expect(storesOf(searchAmong(strangers))).toEqual(["friend", "own"]);
  const read = strangers.map(({ bytesRead }) => bytesRead);
  const sum = read.reduce((total, each) => total + each, 0);
  expect(sum).toBeLessThanOrEqual(searchLimits.indexCostMax);
  // A request for each 16 KiB costs a fifth of the limit.
  expect(sum).toBeGreaterThan(searchLimits.indexCostMax * 0.75);
  expect(Math.max(...read) - Math.min(...read)).toBeLessThanOrEqual(searchLimits.indexFileBytes);
});

test("the caller's own entries outside the index are read, however many strangers want theirs to be", () => {
  const large = new TestStore("own");
  for (const at of numbered(300, (each) => each)) large.edit(`entries/e${at}`, jsonOf(`boat ${"x".repeat(8_000)}`));
  const strangers: readonly SearchedFile[] = numbered(2_000, (at) => ({ path: `e${at}`, bytes: 8_000, changedUs: 1 }));
  const unindexed = numbered(50, (at) => () => ({
    store: `stranger-${at}`,
    listed: 2_000,
    files: strangers,
    indexFiles: [],
    readIndex: () => null,
    readEntry: () => null,
  }));
  large.read.length = 0;
  const found = search({ query: "boat", stores: [() => large.indexed, ...unindexed], limit: 1, nowMs: 1 });
  expect(new Set(large.read).size).toBe(300);
  expect(found.filesLeftOut).toBeGreaterThan(90_000);
});

test("full stores do not push out those with few entries, and what is left out is counted", () => {
  const strangers = numbered(6, (at) => stranger(`stranger-${at}`, 0, 6_000));
  const result = searchAmong(strangers);
  expect(storesOf(result)).toEqual(["friend", "own"]);
  expect(result.filesLeftOut).toBeGreaterThan(34_000);
  expect(result.storesLeftOut).toBe(0);
});

test("when too many files were listed, no further store is", () => {
  const strangers = numbered(60, (at) => stranger(`stranger-${at}`, 0, 2_500));
  const result = searchAmong(strangers);
  const listed = strangers.filter(({ wasListed }) => wasListed).length;
  expect(listed * 2_500).toBeLessThanOrEqual(searchLimits.listedFilesMax + 2_500);
  expect(storesOf(result)).toEqual(["own"]);
  expect(result.storesLeftOut).toBe(61 - listed);
});
