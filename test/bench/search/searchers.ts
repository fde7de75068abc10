/** The ways to search that are compared. Each returns the ids of the ten best texts. */
import MiniSearch from "minisearch";

import { fold } from "../../../plugin/search/fold.ts";
import { search } from "../../../plugin/search/search.ts";
import type { SearchedEntry, ListedStore } from "../../../plugin/search/searched.ts";
import { stemOf } from "../../../plugin/search/stem.ts";
import { stopWords } from "../../../plugin/search/stop-words.ts";
import { TestStore } from "../../unit/searched-store.ts";
import type { QuestionSet } from "./faq-sets.ts";

type Search = (question: string) => number[];

const count = 10;

export const searchers: Readonly<Record<string, (set: QuestionSet) => Search>> = {
  "MiniSearch as it comes": (set) => miniSearch(set),
  "MiniSearch with our stop words and stems": (set) =>
    miniSearch(set, (term) => (stopWords.has(fold(term)) ? null : stemOf(fold(term)))),
  "plugin/search": ours,
};

function ours({ texts }: QuestionSet): Search {
  const store = new TestStore("one");
  for (const { id, value } of texts) store.edit(`entries/${id}`, JSON.stringify({ value, key: "" }));
  store.refresh();
  const stores: ListedStore<SearchedEntry>[] = [() => store.indexed];
  return (question) =>
    search({ query: question, stores, limit: count, nowMs: 0 }).hits.map(({ path }) =>
      Number(path.slice("entries/".length)),
    );
}

function miniSearch({ texts }: QuestionSet, processTerm?: (term: string) => string | null): Search {
  const index = new MiniSearch({ fields: ["value"], ...(processTerm && { processTerm }) });
  index.addAll(texts);
  return (question) =>
    index
      .search(question)
      .slice(0, count)
      .map(({ id }) => id as number);
}
