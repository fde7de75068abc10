/** The text search: what is found, in which order, and how it is shown. */
import { describe, expect, test } from "vitest";

import { fold } from "../../plugin/search/fold.ts";
import { termsOf } from "../../plugin/search/query.ts";
import { search } from "../../plugin/search/search.ts";
import type { SearchedEntry, SearchedStore } from "../../plugin/search/searched.ts";
import { snippetOf } from "../../plugin/search/snippet.ts";
import { stemOf } from "../../plugin/search/stem.ts";
import { wordsIn } from "../../plugin/search/words.ts";
import { textOf, trackedFiles } from "../documents/tracked-files.ts";
import { TestStore } from "./searched-store.ts";
import type { StoredEntry } from "./searched-store.ts";

const nowMs = Date.UTC(2026, 0, 2);

/** The keys that a search finds, through the index. Reading every entry must find the same. */
function keysFound(query: string, stores: readonly TestStore[], limit = 50): string[] {
  const found = (sources: readonly SearchedStore<SearchedEntry>[]): string[] =>
    search({ query, stores: sources.map((each) => () => each), limit, nowMs }).hits.map(
      ({ store, entry, score }) => `${store} ${entry.key} ${score}`,
    );
  const keys = found(stores.map((store) => store.indexed));
  expect(found(stores.map((store) => store.unindexed))).toEqual(keys);
  return keys.map((each) => each.split(" ")[1] ?? "");
}

const snippet = (value: string, query: string): string => snippetOf(value, termsOf(query));

const storeOf = (values: Readonly<Record<string, string>>): TestStore =>
  new TestStore("one", Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value }])));

describe("words", () => {
  test.each([
    ["Case, and (punctuation)", ["case", "and", "punctuation"]],
    ["Crème BRÛLÉE, naïve Ångström", ["creme", "brulee", "naive", "angstrom"]],
    ["decomposed cafe\u0301", ["decomposed", "cafe"]],
    ["Straße STRASSE ΟΔΥΣΣΕΥΣ İstanbul", ["strasse", "strasse", "οδυσσευσ", "istanbul"]],
    ["ﬁle Ｆｕｌｌ ①", ["file", "full", "1"]],
    ["in\u00adfor\u200dmation a\ufeffb 葛\u{e0100}飾", ["information", "ab", "葛飾"]],
    ["ёлка Й", ["елка", "и"]],
    ["हिन्दी ก้าว", ["हिन्दी", "ก้าว"]],
    ["snake_case kebab-case a/b v2.10", ["snake", "case", "kebab", "case", "a", "b", "v2", "10"]],
    ["the user's don't", ["the", "user", "s", "don", "t"]],
    ["", []],
    ["!?… \u0000 \ud800 🙂", []],
  ])("%j", (text, words) => expect(wordsIn(fold(text))).toEqual(words));

  test.each([
    ["東京都", ["東京", "京都"]],
    ["猫", ["猫"]],
    ["メモリーを消す", ["メモ", "モリ", "リー", "ーを", "を消", "消す"]],
    ["ｶﾞｲﾄﾞ", ["ガイ", "イド"]],
    ["한국어 말", ["한국", "국어", "말"]],
    ["𠮷野家", ["𠮷野", "野家"]],
    ["GPT4の設定", ["gpt4", "の設", "設定"]],
  ])("unspaced: %j", (text, words) => expect(wordsIn(fold(text)).toSorted()).toEqual(words.toSorted()));

  test("a long word counts by its first 40 characters, and half a character is no part of it", () => {
    expect(wordsIn("x".repeat(100))).toEqual(["x".repeat(40)]);
    expect(wordsIn(`${"x".repeat(39)}𐐷${"y".repeat(9)}`)).toEqual(["x".repeat(39)]);
  });
});

describe("stems", () => {
  const same =
    "stories=story studied=studying running=run making=make boxes=box searches=searched deploys=deploy uses=use";
  test.for(same.split(" "))("%s", (pair) => {
    const [one = "", other = ""] = pair.split("=");
    expect(stemOf(one)).toBe(stemOf(other));
  });

  test.each(["status", "this", "class", "analysis", "ring", "thing", "red", "need", "string", "bus", "its", "use"])(
    "%s stays",
    (word) => expect(stemOf(word)).toBe(word),
  );

  test("a stem has at least three letters, or the word had fewer", () => {
    const text = trackedFiles
      .filter((file) => file.endsWith(".md"))
      .map(textOf)
      .join("\n");
    const words = [...new Set(wordsIn(fold(text)))];
    expect(words.length).toBeGreaterThan(1000);
    expect(words.filter((word) => stemOf(word).length < Math.min(3, word.length))).toEqual([]);
  });
});

describe("what is found", () => {
  test("stop words find nothing beside other words, and themselves when they are alone", () => {
    const store = storeOf({ who: "The Who", cat: "the cat" });
    expect(keysFound("the cat", [store])).toEqual(["cat"]);
    expect(keysFound("the who?", [store])).toEqual(["who", "cat"]);
  });

  test("one character of unspaced text finds the words around it, also the last one", () => {
    const store = storeOf({ a: "黒猫", b: "猫", c: "猫舌です", d: "犬" });
    expect(keysFound("猫", [store]).toSorted()).toEqual(["a", "b", "c"]);
    expect(keysFound("猫舌", [store])).toEqual(["c"]);
  });

  test("a query of very many words is cut", () => {
    const words = Array.from({ length: 1000 }, (_, at) => `w${at}`);
    expect(termsOf(words.join(" "))).toHaveLength(32);
    expect(keysFound(words.join(" "), [storeOf({ a: "w31", b: "w32" })])).toEqual(["a"]);
  });

  test("the best of all stores; of equal ones the newest first, then by store and key", () => {
    const entry: StoredEntry = { value: "boat" };
    const newer = { ...entry, updatedMs: 5 };
    const stores = [new TestStore("two", { b: entry, a: entry }), new TestStore("one", { y: entry, z: newer })];
    expect(keysFound("boat", stores)).toEqual(["z", "y", "a", "b"]);
    expect(keysFound("boat", stores, 2)).toEqual(["z", "y"]);
  });
});

describe("a snippet", () => {
  const filler = "lorem ipsum dolor sit amet ".repeat(40);

  test("has whole words on both sides of the hit, and marks for what is cut", () => {
    const shown = snippet(`${filler}the red boat sails ${filler}`, "boat");
    expect(shown).toMatch(/^…(?:lorem|ipsum|dolor|sit|amet) .* the red boat sails .* (?:lorem|ipsum|dolor|sit|amet)…$/);
    expect(shown.length).toBeGreaterThan(120);
    expect(shown.length).toBeLessThanOrEqual(162);
  });

  test("is around the place with the most words of the query", () => {
    const value = `boat ${filler} boat with a sail ${filler} sail`;
    expect(snippet(value, "boat sails")).toContain("boat with a sail");
  });

  test("finds its place where folding changes lengths", () => {
    const value = `${"ﬁ e\u0301 Ｘ𠮷 ﬁ ".repeat(200)}der Fluß ${"ﬁ ".repeat(300)}`;
    expect(snippet(value, "FLUSS")).toContain("der Fluß");
    const decomposed = `${"가나다라 ".repeat(100)}한국어 メモリーが${"か゚ ".repeat(200)}`.normalize("NFD");
    expect(snippet(decomposed, "한국어").normalize("NFC")).toContain("한국어");
    expect(snippet(decomposed, "リーが").normalize("NFC")).toContain("メモリーが");
  });
});
