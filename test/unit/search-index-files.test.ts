/** The index of many entries: its files, their sizes, and what a search does without them. */
import { expect, test } from "vitest";

import { fileOf } from "../../plugin/linear-hashing.ts";
import { searchLimits } from "../../plugin/search/search-limits.ts";
import { search } from "../../plugin/search/search.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { indexText, jsonOf, keysFound, keysRead, pathOf, TestStore } from "./searched-store.ts";

const nowMs = 1;
const random = seededRandom(20);
const randomWords = (words: number): string =>
  Array.from({ length: words }, () => `w${Math.floor(random() ** 2 * 3000)}`).join(" ");
const values = Array.from({ length: 160 }, () => randomWords(300));

/** What a search finds with the index, and what it finds without. */
const bothWays = ({ indexed, unindexed }: TestStore): unknown[] =>
  [indexed, unindexed].map((source) =>
    search({ query: "w1 w77 w2000 w2999", stores: [() => source], limit: 20, nowMs }).hits.map(({ path, score }) => ({
      path,
      score,
    })),
  );

const wordsFrom = (from: number): string => Array.from({ length: 30_000 }, (_, at) => `x${from + at}`).join(" ");

const storeWith = (name: string, files: number, text: string): TestStore => {
  const store = new TestStore(name);
  for (let at = 0; at < files; at++) store.edit(pathOf(`e${at}`), text);
  return store;
};

test("an index has several files of a limited size, and a write changes few of them", () => {
  const store = new TestStore("one");
  for (const [at, value] of values.entries()) store.write(`k${at}`, { value });
  const sizes = store.indexFiles.map(({ bytes }) => bytes);
  expect(sizes.length).toBeGreaterThanOrEqual(3);
  expect(Math.max(...sizes)).toBeLessThan(3 * searchLimits.indexFileBytes);
  const before = new Map(store.indexFiles.map(({ path, changedUs }) => [path, changedUs]));
  store.write("k7", { value: randomWords(300) });
  expect(store.indexFiles.filter(({ path, changedUs }) => before.get(path) !== changedUs).length).toBeLessThanOrEqual(
    3,
  );
  expect(keysRead(store)).toEqual([]);
  expect(bothWays(store)[0]).toEqual(bothWays(store)[1]);
  expect(bothWays(store)[0]).toHaveLength(20);
});

test("a refresh writes only the files of the index that change", () => {
  const store = new TestStore("one");
  for (const [at, value] of values.entries()) store.write(`k${at}`, { value });
  store.refresh();
  const before = new Map(store.indexFiles.map(({ path, changedUs }) => [path, changedUs]));
  store.edit(pathOf("k7"), jsonOf("boat"));
  store.refresh();
  expect(store.indexFiles.filter(({ path, changedUs }) => before.get(path) !== changedUs)).toHaveLength(1);
  expect([keysFound("boat", store), keysRead(store)]).toEqual([["k7"], []]);
});

test("a copy of an index file under another number costs no hit", () => {
  const store = new TestStore("one");
  for (const [at, value] of values.entries()) store.write(`k${at}`, { value: `${value} boat${at}` });
  store.edit("search/000099.txt", store.textOf("search/000001.txt"));
  for (const at of [3, 7, 11]) store.write(`k${at}`, { value: `ship${at}` });
  store.edit("search/000099.txt", null);
  for (const at of [3, 7, 11]) store.write(`k${at}`, { value: `raft${at}` });
  for (const at of [3, 7, 11]) expect(keysFound(`boat${at} ship${at} raft${at}`, store)).toEqual([`k${at}`]);
  expect(keysFound("boat5", store)).toEqual(["k5"]);
  store.refresh();
  expect(keysRead(store)).toEqual([]);
  expect(indexText(store)).not.toMatch(/\n(?:ship|boat)(?:3|7|11) /);
});

test("an index that was removed is made again, in portions", () => {
  const store = new TestStore("one");
  for (const [at, value] of values.entries()) store.edit(pathOf(`k${at}`), jsonOf(value));
  let portions = 1;
  while (portions < 20 && !store.refresh(100_000)) portions++;
  expect(portions).toBeGreaterThan(1);
  expect(portions).toBeLessThan(10);
  expect(keysRead(store)).toEqual([]);
  expect(Math.max(...store.indexFiles.map(({ bytes }) => bytes))).toBeLessThan(4 * searchLimits.indexFileBytes);
});

test("a removed file of the index costs no hit", () => {
  const store = new TestStore("one");
  for (const [at, value] of values.entries()) store.write(`k${at}`, { value: `${value} boat${at}` });
  const [, second] = store.indexFiles;
  store.edit(second?.path ?? "", null);
  for (const at of [0, 1, 2, 3, 159]) expect(keysFound(`boat${at}`, store)).toEqual([`k${at}`]);
  store.refresh();
  expect(keysRead(store)).toEqual([]);
});

test("entries for whose words an index file has no room are read instead", () => {
  const store = new TestStore("one");
  // However many files there are, these entries are in the same one.
  const keys = Array.from({ length: 40_000 }, (_, at) => `k${at}`).filter((key) => fileOf(pathOf(key), 1024) === 1);
  for (const [at, key] of keys.slice(0, 4).entries()) store.write(key, { value: wordsFrom(at * 30_000) });
  expect(Math.max(...store.indexFiles.map(({ bytes }) => bytes))).toBeLessThan(2 ** 20);
  expect(keysRead(store)).toEqual(keys.slice(2, 4).toSorted());
  let portions = 1;
  while (portions < 20 && !store.refresh(100_000)) portions++;
  expect(portions).toBeLessThan(10);
  expect(keysRead(store)).toEqual(keys.slice(2, 4).toSorted());
  for (const [at, key] of keys.slice(0, 4).entries()) expect(keysFound(`x${at * 30_000 + 1}`, store)).toEqual([key]);
});

test("stores without an index take no other store's part of the reads", () => {
  const large = jsonOf(`boat ${"x".repeat(8000)}`);
  const stores = [
    storeWith("own", 1, jsonOf("raft")),
    storeWith("large", 2000, large),
    storeWith("larger", 2500, large),
    storeWith("small", 1, jsonOf("boat")),
  ];
  const { hits, filesLeftOut } = search({
    query: "boat",
    stores: stores.map((store) => () => store.indexed),
    limit: 1,
    nowMs,
  });
  expect(hits.map(({ store }) => store)).toEqual(["small"]);
  const [, first = 0, second = 0] = stores.map(({ read }) => read.length);
  expect(first).toBeGreaterThan(300);
  expect(Math.abs(first - second)).toBeLessThanOrEqual(1);
  expect(filesLeftOut).toBe(4500 - first - second);
});
