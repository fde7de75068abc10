/** Where a line of the page may end within a word. */
import { expect, test } from "vitest";

import { wordParts } from "../../host/report/page/break-points.ts";

const hash = "0c27391d914dc472d3cbb1bbeabafe09d239e881bd0cbef022223379f64da0cc";

const words: readonly { name: string; text: string; parts: readonly (readonly string[])[] }[] = [
  { name: "short words", text: "user-memory store_read", parts: [["user-memory "], ["store_read"]] },
  {
    name: "a path",
    text: "../../bob/memory/secret.md",
    parts: [["../../", "bob/", "memory/", "secret.", "md"]],
  },
  {
    name: "a UUID",
    text: hash.replace(/^(.{8})(.{4}).*/, "$1-$2-467f-a8b1-52a0f3f1c6aa"),
    parts: [["0c27391d-", "914d-", "467f-", "a8b1-", "52a0f3f1c6aa"]],
  },
  {
    name: "a long tool name",
    text: "RestoreEveryDeletedEntry",
    parts: [["Restore", "Every", "Deleted", "Entry"]],
  },
  { name: "a long constant", text: "MEMORY_INVALID_TARGET", parts: [["MEMORY_", "INVALID_", "TARGET"]] },
  {
    name: "a hash in a sentence",
    text: `It is ${hash}, not pinned.`,
    parts: [
      ["It "],
      ["is "],
      [hash.slice(0, 16), hash.slice(16, 32), hash.slice(32, 48), `${hash.slice(48)}, `],
      ["not "],
      ["pinned."],
    ],
  },
  {
    name: "Japanese, twice as wide",
    text: "株式会社山田商店営業部門課長",
    parts: [["株式会社山田商店", "営業部門課長"]],
  },
  {
    name: "Arabic",
    text: "محمد عبد الله بن عبد المطلب",
    parts: [["محمد "], ["عبد "], ["الله "], ["بن "], ["عبد "], ["المطلب"]],
  },
  { name: "letters with marks", text: "W\u0300".repeat(24), parts: [["W\u0300".repeat(16), "W\u0300".repeat(8)]] },
  { name: "nothing but dashes", text: "-".repeat(40), parts: [["-".repeat(16), "-".repeat(24)]] },
  { name: "spaces alone", text: " ".repeat(30), parts: [[" ".repeat(30)]] },
  { name: "no text", text: "", parts: [[""]] },
];

test.for(words)("wordParts splits $name", ({ text, parts }) => {
  expect(wordParts(text)).toEqual(parts);
  expect(wordParts(text).flat().join("")).toBe(text);
});
