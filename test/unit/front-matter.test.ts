/** What the plugin takes for front matter and what people added to it, within bounds; what describes a text that has none. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { frontMatterLimits, whyTooLarge } from "../../plugin/kit/front-matter-bounds.ts";
import { joinFrontMatter, parseFields, splitFrontMatter } from "../../plugin/kit/front-matter.ts";
import { breaksLine } from "../../plugin/kit/plain-line.ts";
import { formatEntry, parseEntry } from "../../plugin/user-memory/entry-file.ts";
import { describedByText } from "../../plugin/user-memory/index-description.ts";
import { runs } from "../stage/random-runs.ts";

const fields = { name: "a", description: "New", type: "user", created: "c", updated: "u" } as const;
const own = "name: a\ndescription: New\ntype: user\ncreated: c\nupdated: u\n";

test.for<readonly [what: string, replaced: string, kept: string]>([
  ["a key that starts like one of ours", "name: a\nnamed: x\nname-2: y\n", "named: x\nname-2: y\n"],
  ["nothing of our keys in quotes", "\"name\": a\n'type': user\nmine: 1\n", "mine: 1\n"],
  ["an anchor that is still used", "mine: &x 1\nalso: *x\n", "mine: &x 1\nalso: *x\n"],
  ["the value of an anchor that was ours", "description: &x old\nmine: *x\n", "mine: old\n"],
  ["no final line feed", "name: a\nmine: 1", "mine: 1\n"],
  ["CRLF lines", "name: a\r\nmine: 1\r\n", "mine: 1\r\n"],
])("an entry that is replaced keeps %s", ([, replaced, kept]) => {
  expect(formatEntry(fields, "body", replaced)).toBe(`---\n${own}${kept}---\nbody`);
});

describe("front matter", () => {
  test("ends at the first closing fence, and the body keeps its bytes", () => {
    expect(splitFrontMatter("---\na: 1\n---\r\n---\nb\n---\n")?.body).toBe("---\nb\n---\n");
    expect(splitFrontMatter("---\na: 1\n---")?.body).toBe("");
    expect(splitFrontMatter("\ufeff---\na: 1\n---\nx")?.body).toBe("x");
    expect(splitFrontMatter(`---\na: 1\n---\n${"\n".repeat(100_000)}`)?.body).toHaveLength(100_000);
  });

  const { charsMax, linesMax, whiteSpaceMax, bracketsMax, indentMax } = frontMatterLimits;

  /** `text` gives one with so many, which is one more than allowed if it is one more than `most`. */
  test.for<readonly [what: string, most: number, text: (count: number) => string]>([
    ["characters", charsMax, (count) => `a: ${"x".repeat(count - 4)}\n`],
    ["lines", linesMax, (count) => "#\n".repeat(count)],
    ["white space in a row", whiteSpaceMax, (count) => `a:${" ".repeat(count)}1\n`],
    ["white space that is not ASCII", whiteSpaceMax, (count) => `a: x${"\u3000".repeat(count)}1\n`],
    ["nested brackets", bracketsMax, (count) => `a: ${"[".repeat(count)}${"]".repeat(count)}\n`],
    ["nested lists", indentMax / 2, (count) => `a:\n${"- ".repeat(count)}x\n`],
    ["nested keys", indentMax, (count) => `a:\n${" ".repeat(count)}b: 1\n`],
  ])("is bounded in %s", ([, most, text]) => {
    const over = text(most + 1);
    expect(whyTooLarge(text(most))).toBe(null);
    expect(whyTooLarge(over)).not.toBe(null);
    expect(parseFields(over)).toBe(null);
    expect(() => joinFrontMatter(over, "")).toThrow("Cannot write the file: its front matter has");
  });

  test("is not written if the added keys leave no room for the tool's own", () => {
    const added = `mine: ${"x".repeat(charsMax - 100)}\n`;
    const entry = parseEntry(`---\ndescription: d\ntype: user\n${added}---\nBody`, "a");
    if ("unreadable" in entry) throw new Error(entry.unreadable);
    const longer = { ...fields, description: "d".repeat(300) };
    expect(() => formatEntry(longer, "", entry.frontMatter)).toThrow("characters, at most");
  });
});

test.for<readonly [name: string, text: string, description: string]>([
  ["a heading", "# Title\n\nText", "Title"],
  ["the second line of a paragraph above a rule", "one\ntwo\n---\n", "one"],
  ["a list", "- one\n- two", "one"],
  ["a word that begins with a mark", "#project -5 *x*", "#project -5 *x*"],
  ["code alone", "~~~sh\n# yes\n~~~", "yes"],
  ["a byte order mark", "\uFEFF# Title\r\nText", "Title"],
  ["front matter that nobody can read", "---\na: [\n---\nText", "Text"],
  ["fences and rules alone", "---\n***\n- - -\n```\n```\n>\n|---|\n", "name"],
  ["white space and invisible characters", " \n\u200b\u202e\t\n", "name"],
  ["lines that end with a carriage return alone", "\r# Title\rText\r", "Title"],
  ["separators, controls and overrides", "# a\u2028b\u0085c\u202ed\u0000e\rf\n", "a b c d e f"],
])("%s", ([, text, description]) => {
  expect(describedByText(text, "name")).toBe(description);
});

const mark = fc.constantFrom("#", "-", "*", ">", "`", "~", "=", "_", "[", "]", " ", "\n", "\r", "\t", "a", "é", "😀");
const hostile = fc.array(fc.oneof(mark, fc.string({ unit: "binary", maxLength: 2 })), { maxLength: 200 });

test("is one line of at most 300 characters, and never a mark alone", () => {
  fc.assert(
    fc.property(hostile, (parts) => {
      const description = describedByText(parts.join(""), "name");
      expect(description).not.toMatch(breaksLine);
      expect(description.isWellFormed()).toBe(true);
      expect(Array.from(description).length).toBeLessThanOrEqual(300);
      expect(description).not.toMatch(/^[-*_=#>`~+|:\s]*$/);
    }),
    runs(500),
  );
});
