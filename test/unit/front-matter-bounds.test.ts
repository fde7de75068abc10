/** What the YAML library gets is bounded, and what tools write can be read again. */
import { expect, test } from "vitest";

import { frontMatterLimits, whyTooLarge } from "../../plugin/front-matter-bounds.ts";
import { joinFrontMatter, parseFields, splitFrontMatter } from "../../plugin/front-matter.ts";
import { formatEntry, parseEntry } from "../../plugin/user-memory/entry-file.ts";

const { charsMax, linesMax, whiteSpaceMax, bracketsMax, indentMax } = frontMatterLimits;
const words = (chars: number): string => `a: ${"x".repeat(chars - 4)}\n`;

test.for([
  { name: "characters", most: words(charsMax), over: words(charsMax + 1) },
  { name: "lines", most: "a: 1\n#\n".repeat(linesMax / 2), over: `#\n${"#\n".repeat(linesMax)}` },
  {
    name: "white space in a row",
    most: `a:${" ".repeat(whiteSpaceMax)}1\n`,
    over: `a:${" ".repeat(whiteSpaceMax + 1)}1\n`,
  },
  {
    name: "white space that is not ASCII",
    most: `a: x${"\u3000".repeat(whiteSpaceMax)}1\n`,
    over: `a: x${"\u3000".repeat(whiteSpaceMax + 1)}1\n`,
  },
  {
    name: "nested brackets",
    most: `a: ${"[".repeat(bracketsMax)}${"]".repeat(bracketsMax)}\n`,
    over: `a: ${"[".repeat(bracketsMax + 1)}${"]".repeat(bracketsMax + 1)}\n`,
  },
  {
    name: "nested lists",
    most: `a:\n${"- ".repeat(indentMax / 2)}x\n`,
    over: `a:\n${"- ".repeat(indentMax / 2 + 1)}x\n`,
  },
  { name: "nested keys", most: `a:\n${" ".repeat(indentMax)}b: 1\n`, over: `a:\n${" ".repeat(indentMax + 1)}b: 1\n` },
])("front matter is bounded in $name", ({ most, over }) => {
  expect(whyTooLarge(most)).toBe(null);
  expect(whyTooLarge(over)).not.toBe(null);
  expect(parseFields(over)).toBe(null);
  expect(() => joinFrontMatter(over, "")).toThrow("Cannot write the file: its front matter has");
});

test("the body has no bound here", () => {
  expect(splitFrontMatter(`---\na: 1\n---\n${"\n".repeat(100_000)}`)?.body).toHaveLength(100_000);
});

test("an entry whose added keys leave no room for the tool's own is not written", () => {
  const added = `mine: ${"x".repeat(charsMax - 100)}\n`;
  const file = `---\ndescription: d\ntype: user\n${added}---\nBody`;
  const entry = parseEntry(file, "a");
  if ("unreadable" in entry) throw new Error(entry.unreadable);
  const times = { created: "2023-11-14T22:13:20.000Z", updated: "2023-11-14T22:13:20.000Z" };
  const fields = { name: "a", description: "d".repeat(300), type: "user", ...times } as const;
  expect(() => formatEntry(fields, "", entry.frontMatter)).toThrow("characters, at most");
});
