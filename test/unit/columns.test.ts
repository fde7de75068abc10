/** Texts in the columns of a terminal: tables, and lines that fit. */
import { expect, test } from "vitest";

import { columns, shortened } from "../../host/cli/columns.ts";

test("a table's columns are as wide as their widest cells", () => {
  const rows = [
    ["name", "size"],
    ["東京", "7"],
    ["e\u0301", "1234567"],
  ];
  expect(columns(rows, [1])).toBe("name     size\n東京        7\ne\u0301     1234567\n");
});

test("a very long cell does not widen its column", () => {
  expect(columns([["x".repeat(49), "a"], ["yy", "b"], []])).toBe(`${"x".repeat(49)}  a\nyy  b\n\n`);
});

test.for([
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["東京", 4, "東京"],
  ["東京都", 5, "東京…"],
  ["東京都", 4, "東…"],
  ["", 5, ""],
  ["😀😀😀", 5, "😀😀…"],
] as const)("%s in %i columns is %s", ([text, columnsMax, expected]) => {
  expect(shortened(text, columnsMax)).toBe(expected);
});

test("marks without a width do not make a line endless", () => {
  expect(shortened(`e${"\u0301".repeat(10_000)}`, 10)).toBe(`e${"\u0301".repeat(19)}…`);
});
