/** The index of the text search follows every change, by tools and by people, and is never trusted beyond that. */
import { expect, test } from "vitest";

import { fileOf } from "../../plugin/kit/linear-hashing.ts";
import { searchLimits } from "../../plugin/search/search-limits.ts";
import { search } from "../../plugin/search/search.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { indexText, jsonOf, keysFound, keysRead, pathOf, TestStore } from "./searched-store.ts";

const threeBoats = (): TestStore =>
  new TestStore("one", { a: { value: "boat" }, b: { value: "ship" }, c: { value: "raft" } });
const firstFile = (store: TestStore): string => store.indexFiles[0]?.path ?? "";
const damage = (store: TestStore, change: (text: string) => string): void =>
  store.edit(firstFile(store), change(store.textOf(firstFile(store))));

/** What a search must read because the index does not know it, and what each word finds. */
const seenIn = (store: TestStore, words: readonly string[]): unknown[] => [
  keysRead(store),
  ...words.map((word) => keysFound(word, store).join()),
];

test("a search reads nothing but its hits, and a row is used again", () => {
  const store = threeBoats();
  expect([keysFound("boat", store), store.read]).toEqual([["a"], [pathOf("a")]]);
  store.delete("b");
  store.write("d", { value: "yacht" });
  expect(indexText(store)).toMatch(/\nyacht 1 \n/);
});

type Row = readonly [
  name: string,
  change: (store: TestStore) => void,
  words: Readonly<Record<string, string>>,
  read: readonly string[],
];
const all = ["a", "b", "c"];
const copied = (store: TestStore): void => store.edit("search/000099.txt", store.textOf(firstFile(store)));
const older = (store: TestStore): void => {
  const [path, text] = [firstFile(store), store.textOf(firstFile(store))];
  store.write("new", { value: "kayak" });
  store.edit(path, text);
};

/** By a person, so that a search reads what the index does not know. The next write of a tool, or a refresh, mends it. */
test.for<Row>([
  ["an entry", (store) => store.edit(pathOf("a"), jsonOf("a canoe")), { canoe: "a", boat: "" }, ["a"]],
  ["an entry in the tick of its write", (store) => store.editAtOnce(pathOf("c"), jsonOf("gig")), { gig: "c" }, ["c"]],
  ["a new file", (store) => store.edit(pathOf("new"), jsonOf("kayak")), { kayak: "new" }, ["new"]],
  ["a file that is removed", (store) => store.edit(pathOf("a"), null), { boat: "" }, []],
  ["a file into no entry", (store) => store.edit(pathOf("a"), "null"), { boat: "" }, ["a"]],
  ["the index to nothing", (store) => damage(store, () => ""), { boat: "a" }, all],
  ["its version", (store) => damage(store, (text) => text.replace('"version":3', '"version":0')), { boat: "a" }, all],
  ["it by a cut in its postings", (store) => damage(store, (text) => text.slice(0, -2)), { boat: "a" }, all],
  ["it by a copy under another number", copied, { boat: "a" }, []],
  ["it for an older copy", older, { kayak: "new" }, ["new"]],
  ["all files for those of a backup", (store) => store.restore(), { boat: "a" }, all],
])("a person changes %s", ([, change, words, read]) => {
  const store = threeBoats();
  change(store);
  const found = Object.values(words);
  expect(seenIn(store, Object.keys(words))).toEqual([read, ...found]);
  store.write("b", { value: "ferry" });
  store.refresh();
  expect(seenIn(store, [...Object.keys(words), "ferry", "ship"])).toEqual([[], ...found, "b", ""]);
});

test("an edit between a call's listing and its commit is seen after the commit", () => {
  const store = threeBoats();
  store.write("b", { value: "sloop" });
  store.beforeCommit = () => store.edit(pathOf("a"), jsonOf("bark"));
  store.write("b", { value: "dhow!" });
  expect([keysFound("bark", store), keysFound("boat", store)]).toEqual([["a"], []]);
});

test("an entry that cannot be read any more makes room for the next", () => {
  const { indexed } = new TestStore("one", { a: { value: "boat" }, b: { value: "boat" }, c: { value: "boat" } });
  const readEntry: typeof indexed.readEntry = (path) => (path === pathOf("a") ? null : indexed.readEntry(path));
  const { hits } = search({ query: "boat", stores: [() => ({ ...indexed, readEntry })], limit: 1, nowMs: 1 });
  expect(hits.map(({ entry }) => entry.key)).toEqual(["b"]);
});

test("rows and postings that make no sense are passed over", () => {
  const store = threeBoats();
  const spoilt = "\nboat 0:x 99 -1 2:0 z \n";
  damage(store, (text) => text.replace('["entries/b",', '["entries/b","x",').replace(/\nboat .*\n/, spoilt));
  expect([keysRead(store), keysFound("boat", store), keysFound("ship", store)]).toEqual([["b"], [], ["b"]]);
});

const portionsOf = (store: TestStore): number => {
  let portions = 1;
  while (portions < 20 && !store.refresh(100_000)) portions++;
  return portions;
};
const largest = (store: TestStore): number => Math.max(...store.indexFiles.map(({ bytes }) => bytes));

const wordsFrom = (from: number): string => Array.from({ length: 30_000 }, (_, at) => `x${from + at}`).join(" ");

test("an index of many entries is made again in portions if it was removed", () => {
  const random = seededRandom(20);
  const randomWords = (): string => Array.from({ length: 300 }, () => `w${Math.floor(random() ** 2 * 3000)}`).join(" ");
  const store = new TestStore("one");
  for (let at = 0; at < 160; at++) store.edit(pathOf(`k${at}`), jsonOf(randomWords()));
  const portions = portionsOf(store);
  expect(portions).toBeGreaterThan(1);
  expect(portions).toBeLessThan(10);
  expect(keysRead(store)).toEqual([]);
  expect(largest(store)).toBeLessThan(4 * searchLimits.indexFileBytes);
});

test("entries for whose words a file has no room are read instead", () => {
  const store = new TestStore("one");
  // However many files there are, these entries are in the same one.
  const keys = Array.from({ length: 40_000 }, (_, at) => `k${at}`).filter((key) => fileOf(pathOf(key), 1024) === 1);
  for (const [at, key] of keys.slice(0, 4).entries()) store.write(key, { value: wordsFrom(at * 30_000) });
  expect(largest(store)).toBeLessThan(2 ** 20);
  expect(keysRead(store)).toEqual(keys.slice(2, 4).toSorted());
  expect(portionsOf(store)).toBeLessThan(10);
  expect(keysRead(store)).toEqual(keys.slice(2, 4).toSorted());
  for (const [at, key] of keys.slice(0, 4).entries()) expect(keysFound(`x${at * 30_000 + 1}`, store)).toEqual([key]);
});
