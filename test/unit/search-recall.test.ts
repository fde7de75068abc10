/** The search finds at least as much as MiniSearch. `test/bench/search/README.md` has larger sets. */
import MiniSearch from "minisearch";
import { expect, test } from "vitest";

import { fold } from "../../plugin/search/fold.ts";
import { search } from "../../plugin/search/search.ts";
import { stemOf } from "../../plugin/search/stem.ts";
import { stopWords } from "../../plugin/search/stop-words.ts";
import { textOf, trackedFiles } from "../documents/tracked-files.ts";
import { TestStore } from "./searched-store.ts";

/** The project's decisions: each is the answer to a question, its heading. Nobody wrote them for this test. */
const decisions = trackedFiles
  .filter((file) => /(^|\/)RATIONALE\.md$/.test(file))
  .flatMap((file) => textOf(file).split(/^## /m).slice(1))
  .map((section, at) => ({
    id: `${at}`,
    question: section.split("\n", 1)[0] ?? "",
    value: section.replace(/^.*\n/, ""),
  }));

/** How many questions find their answer first, among the first five, and among the first ten; together. */
function found(find: (question: string) => string[]): number {
  const places = decisions.map(({ id, question }) => find(question).indexOf(id));
  const counts = [1, 5, 10].map((count) => places.filter((place) => place >= 0 && place < count).length);
  return counts.reduce((total, each) => total + each, 0);
}

function foundByUs(): number {
  const store = new TestStore("one", Object.fromEntries(decisions.map(({ id, value }) => [id, { value }])));
  const stores = [() => store.indexed];
  return found((query) => search({ query, stores, limit: 10, nowMs: 0 }).hits.map(({ entry }) => entry.key));
}

function foundByMiniSearch(processTerm?: (term: string) => string | null): number {
  const index = new MiniSearch({ fields: ["value"], ...(processTerm && { processTerm }) });
  index.addAll(decisions);
  return found((query) =>
    index
      .search(query)
      .slice(0, 10)
      .map(({ id }) => id as string),
  );
}

const stemmed = (term: string): string | null => (stopWords.has(fold(term)) ? null : stemOf(fold(term)));

test("not less than MiniSearch as it comes", () => {
  expect(decisions.length).toBeGreaterThan(50);
  expect(foundByUs()).toBeGreaterThanOrEqual(foundByMiniSearch());
});

test("not less than MiniSearch with the same stop words and stems", () => {
  expect(foundByUs()).toBeGreaterThanOrEqual(foundByMiniSearch(stemmed));
});
