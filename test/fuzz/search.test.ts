/** Any query over any entries finds the same with an index and without. Which entries: `memory-search.test.ts`. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { search } from "../../plugin/search/search.ts";
import type { SearchedEntry, SearchedStore } from "../../plugin/search/searched.ts";
import { runs } from "../stage/random-runs.ts";
import { pathOf, TestStore } from "../unit/searched-store.ts";

/** Words with common stems, texts of several scripts, syntax of other searches, and parts of an index file. */
const words = 'boat boats stories story running the a café STRASSE straße ﬁle 東京都 京 한국어 ｶﾞ हिन्दी 0 1:2 " *'.split(
  " ",
);
const odd = [
  "cafe\u0301",
  "x".repeat(50),
  `${"y".repeat(39)}𐐷`,
  " AND ",
  "\n0 1 \n",
  "\nboat 0 ",
  "\ud800",
  "\0",
  "\u202e",
];
const piece = fc.constantFrom(...words, ...odd);
const text = fc
  .array(fc.oneof({ weight: 3, arbitrary: piece }, fc.constantFrom(" ", "-", "\n"), fc.string({ unit: "binary" })), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));
/** A host reads files as UTF-8, so their text is well-formed. */
const value = text.map((each) => each.toWellFormed());
const key = fc.constantFrom("a", "b", "notes/boat", "東京", "d-e_f");

const hitsIn = (query: string, source: SearchedStore<SearchedEntry>): unknown[] =>
  search({ query, stores: [() => source], limit: 50, nowMs: 1 }).hits.map(({ path, score, snippet }) => ({
    path,
    score,
    snippet,
  }));

type Change = (store: TestStore) => void;

const change = fc.oneof<fc.Arbitrary<Change>[]>(
  fc.tuple(key, value).map(
    ([name, each]) =>
      (store) =>
        store.write(name, { value: each }),
  ),
  key.map((name) => (store) => store.write(name, null)),
  key.map((name) => (store) => store.delete(name)),
  fc.tuple(key, value).map(
    ([name, each]) =>
      (store) =>
        store.edit(pathOf(name), JSON.stringify({ value: each })),
  ),
  key.map((name) => (store) => store.edit(pathOf(name), null)),
  fc.constant((store) => store.restore()),
  fc.nat(100).map((bytes) => (store) => void store.refresh(bytes)),
  fc.constant((store) => store.indexFiles.forEach(({ path }) => store.edit(path, null))),
);

test("after any changes by tools and people, a search finds the same with the index and without", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), text, (changes, query) => {
      const store = new TestStore("one");
      for (const each of changes) each(store);
      expect(hitsIn(query, store.indexed)).toEqual(hitsIn(query, store.unindexed));
    }),
    runs(200),
  );
});

test("a snippet is one line of whole characters, at most 162 of them", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 40 }), text, (values, query) => {
      const store = new TestStore("one", { a: { value: values.join(" ") } });
      for (const { snippet } of search({ query, stores: [() => store.indexed], limit: 1, nowMs: 1 }).hits) {
        expect(snippet).toMatch(/^[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u);
        expect(Array.from(snippet).length).toBeLessThanOrEqual(162);
      }
    }),
    runs(100),
  );
});
