/** The texts of Anthropic's memory tool, beyond what the conformance vectors show of them. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { numberedWithin } from "../../plugin/stores/anthropic/cut-lines.ts";
import { fileSize } from "../../plugin/stores/anthropic/folder-listing.ts";
import { onlyMatch } from "../../plugin/stores/anthropic/only-match.ts";
import { linesOf, withLines } from "../../plugin/stores/anthropic/text-lines.ts";
import { runs } from "../stage/random-runs.ts";

/** Short texts with many line ends. */
const texts = fc.array(fc.constantFrom("a", "b", "\n", "\n", "é"), { maxLength: 12 }).map((parts) => parts.join(""));

test("a size is rounded as du does", () => {
  const sizes = [0, 1023, 1024, 1536, 1_258_291, 67_108_864, 3 * 1024 ** 4];
  expect(sizes.map((bytes) => fileSize(bytes))).toEqual(["0B", "1023B", "1K", "1.5K", "1.2M", "64M", "3072G"]);
});

test.for<readonly [what: string, lines: string[], first: number, charsMax: number, shown: string]>([
  ["all lines", ["abc", "de"], 1, 7, "     1\tabc\n     2\tde"],
  ["whole lines", ["abcd", "efgh", "ij"], 5, 12, "     5\tabcd\n[2 more lines: view_range [6, 7]]"],
  [
    "a part of the first line, and never half a character",
    ["abc😀defghijklmn", "b"],
    3,
    4,
    "     3\tabc\n[line 3 is cut after 4 of 16 characters: view_range [3, 3] shows more; 1 more line: view_range [4, 4]]",
  ],
  [
    "what an answer can hold",
    ["\u0001".repeat(90_000)],
    1,
    Infinity,
    `     1\t${"\u0001".repeat(80_000)}\n[line 1 is cut after 80000 of 90000 characters]`,
  ],
])("a text is cut to %s", ([, lines, first, charsMax, shown]) => {
  expect(numberedWithin(lines, first, charsMax)).toBe(shown);
});

test("a text is inserted as lines of its own, and nothing else changes", () => {
  fc.assert(
    fc.property(texts, texts.filter(Boolean), fc.nat(), (content, text, any) => {
      const lines = linesOf(content);
      const line = any % (lines.length + 1);
      const expected = [...lines.slice(0, line), ...linesOf(text), ...lines.slice(line)];
      expect(linesOf(withLines(content, line, text))).toEqual(expected);
    }),
    runs(200),
  );
  expect(withLines("a\r\nb\r\n", 1, "x")).toBe("a\r\nx\nb\r\n");
});

const found = (content: string, piece: string): number => onlyMatch(content, piece, "/memories/a");

test("the only match is where indexOf finds it, and several are named by their lines", () => {
  fc.assert(
    fc.property(texts, texts.filter(Boolean), (content, piece) => {
      fc.pre(content.split(piece).length === 2);
      return found(content, piece) === content.indexOf(piece);
    }),
    runs(100),
  );
  expect(() => found("x\ny\nx\ny\n", "x\ny")).toThrow("in lines: 1, 3. Please");
  expect(() => found("x x\nx", "x")).toThrow("in lines: 1, 2. Please");
});
