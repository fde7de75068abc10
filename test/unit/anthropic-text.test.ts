/** The texts of Anthropic's memory tool. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { numberedWithin } from "../../plugin/stores/anthropic/cut-lines.ts";
import { parseFilePath } from "../../plugin/stores/anthropic/file-path.ts";
import { fileSize } from "../../plugin/stores/anthropic/file-size.ts";
import { FolderListing } from "../../plugin/stores/anthropic/folder-listing.ts";
import { onlyMatch } from "../../plugin/stores/anthropic/only-match.ts";
import { countLines, linesOf, numbered, withLines } from "../../plugin/stores/anthropic/text-lines.ts";
import { runs } from "../stage/random-runs.ts";

/** Short texts with many line ends. */
const texts = fc.array(fc.constantFrom("a", "b", "\n", "\n", "é"), { maxLength: 12 }).map((parts) => parts.join(""));

test.for([
  [0, "0B"],
  [1, "1B"],
  [1023, "1023B"],
  [1024, "1K"],
  [1536, "1.5K"],
  [5632, "5.5K"],
  [102_400, "100K"],
  [1_258_291, "1.2M"],
  [67_108_864, "64M"],
  [5 * 1024 ** 3, "5G"],
  [3 * 1024 ** 4, "3072G"],
] as const)("a size of %d bytes is %s", ([bytes, shown]) => {
  expect(fileSize(bytes)).toBe(shown);
});

test("lines are what stands before line ends, and after the last one if anything does", () => {
  expect(["", "\n", "a", "a\n", "a\n\n", "\na"].map(linesOf)).toEqual([[], [""], ["a"], ["a"], ["a", ""], ["", "a"]]);
  fc.assert(fc.property(texts, (text) => countLines(text) === linesOf(text).length));
});

test("numbers are six wide", () => {
  expect(numbered(["a", ""], 9)).toBe("     9\ta\n    10\t");
  expect(numbered(["a", "b"], 999_998)).toBe("999998\ta\n999999\tb");
});

describe("cut lines", () => {
  test("all lines, if they have no more characters than allowed", () => {
    expect(numberedWithin(["abc", "de"], 1, 7)).toBe("     1\tabc\n     2\tde");
    expect(numberedWithin([], 1, 7)).toBe("");
  });

  test("whole lines, and which are left out", () => {
    expect(numberedWithin(["abcd", "efgh", "ij"], 5, 12)).toBe("     5\tabcd\n[2 more lines: view_range [6, 7]]");
  });

  test("a part of the first line, if not even that fits, and never half a character", () => {
    expect(numberedWithin(["abc😀defghijklmn", "b"], 3, 4)).toBe(
      "     3\tabc\n[line 3 is cut after 4 of 16 characters: view_range [3, 3] shows more; 1 more line: view_range [4, 4]]",
    );
  });

  test("what is within the limits of an answer, in any case", () => {
    const whole = numberedWithin(["\u0001".repeat(90_000)], 1, Infinity);
    expect(whole).toBe(`     1\t${"\u0001".repeat(80_000)}\n[line 1 is cut after 80000 of 90000 characters]`);
    expect(numberedWithin(["a".repeat(90_000)], 1, Infinity)).toHaveLength(90_007);
  });
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
});

test.for([
  ["", 0, "x", "x"],
  ["", 0, "x\n", "x\n"],
  ["", 0, "", ""],
  ["a\nb", 1, "", "a\n\nb"],
  ["a", 1, "", "a\n"],
  ["a", 1, "x", "a\nx"],
  ["a", 1, "x\n", "a\nx\n"],
  ["a\n", 1, "x", "a\nx\n"],
  ["a\n", 0, "x\n\n", "x\n\na\n"],
  ["a\r\nb\r\n", 1, "x", "a\r\nx\nb\r\n"],
] as const)("inserting into %j after line %d: %j", ([content, line, text, expected]) => {
  expect(withLines(content, line, text)).toBe(expected);
});

const found = (content: string, piece: string): number => onlyMatch(content, piece, "/memories/a");

/** The lines that the error names, or the place of the only match. */
function namedLines(content: string, piece: string): string {
  try {
    return `at ${found(content, piece)}`;
  } catch (error) {
    return /in lines: (.*)\. Please/.exec((error as Error).message)?.[1] ?? "";
  }
}

describe("the only match", () => {
  test("is where indexOf finds it", () => {
    expect(found("a\nbc\nd", "bc\n")).toBe(2);
    expect(() => found("abab", "ab")).toThrow("in lines: 1. Please");
    fc.assert(
      fc.property(texts, texts.filter(Boolean), (content, piece) => {
        fc.pre(content.split(piece).length === 2);
        return found(content, piece) === content.indexOf(piece);
      }),
    );
  });

  test("if there are several, the error names the lines where they begin", () => {
    expect(namedLines("x\ny\nx\ny\n", "x\ny")).toBe("1, 3");
    expect(namedLines("a\n\nb\n\n", "\n")).toBe("1, 2, 3, 4");
    expect(namedLines("x x\nx", "x")).toBe("1, 2");
    expect(namedLines("aaa", "aa")).toBe("at 0");
  });
});

test("a listing is in the order of names, a file before the directory of its name", () => {
  const listing = new FolderListing();
  for (const path of ["b.txt", "b/c", "a", "b/.h", "b/a/x/y", "a", "node_modules/x", "b"]) listing.add(path, 1, "you");
  expect(listing.text("/memories")).toBe(
    ["8B\t/memories", "2B\t/memories/a", "1B\t/memories/b", "3B\t/memories/b/", "1B\t/memories/b/a/"]
      .concat("1B\t/memories/b/a/x/", "1B\t/memories/b/c", "1B\t/memories/b.txt")
      .filter((line) => !line.endsWith("/x/"))
      .join("\n"),
  );
});

test("a name with a line end takes one line of a listing", () => {
  const listing = new FolderListing();
  listing.add("a\n9B\tforged", 1, "you");
  expect(listing.text("/memories")).toBe("1B\t/memories\n1B\t/memories/a 9B forged");
});

test.for([
  ["/memories", "", false],
  ["/memories/", "", true],
  ["/memories/a", "a", false],
  ["/memories/a/", "a", true],
  ["/memories/a/b.md", "a/b.md", false],
  ["/memories/...", "...", false],
  ["/memories/a..b/..c", "a..b/..c", false],
  ["/memories/%2f%41", "%2f%41", false],
  ["/memories/a\\b", "a\\b", false],
] as const)("the path %s has the key %j", ([path, key, endsInSlash]) => {
  expect(parseFilePath(path)).toEqual({ shown: path, key, endsInSlash });
});

test.for(["", "/", "/memory", "/memories2", "memories", "/Memories/a", " /memories/a"])("no path: %j", (path) => {
  expect(() => parseFilePath(path)).toThrow(`Path must start with /memories, got: ${path}`);
});

test.for(["/memories/..", "/memories/../", "/memories/a/../../b", "/memories/%2E%2e", "/memories/a%2f..%5C../b"])(
  "a path that climbs out: %s",
  (path) => {
    expect(() => parseFilePath(path)).toThrow(`Path ${path} would escape /memories directory`);
  },
);

test.for([
  "//",
  "/a//b",
  "/.",
  "/a/./b",
  "/a\n",
  "/a\u202e",
  "/\ud800",
  "/a/b/../c",
  "/shared",
  "/shared/x",
  "/shared/",
])("no key: %j", (rest) => {
  expect(() => parseFilePath(`/memories${rest}`)).toThrow(/allowed|stands for other stores/);
});
