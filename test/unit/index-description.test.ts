/** The description of a text for which nobody has written one. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { breaksLine } from "../../plugin/plain-line.ts";
import { describedByText } from "../../plugin/user-memory/index-description.ts";
import { runs } from "../stage/random-runs.ts";

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
