/** What is read of a front matter without the YAML library is what the library reads. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { parseFields } from "../../plugin/front-matter.ts";
import { plainFields } from "../../plugin/user-memory/plain-fields.ts";

const piece = fc.constantFrom(
  "a",
  "b c",
  "é",
  "😀",
  "'",
  "''",
  '"',
  ":",
  ": ",
  " #",
  "#",
  "-",
  "- ",
  "[",
  "{",
  "&",
  "*",
  "!",
  "|",
  ">",
  "%",
  "@",
  "`",
  "~",
  "true",
  "12",
  "2026-01-02",
  "\\",
  "\t",
  "\u00a0",
  ",",
  "?",
);
const value = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
const line = fc.oneof(
  fc
    .tuple(fc.constantFrom("description", "type", "created", "updated", "tags", "x"), value)
    .map(([key, text]) => `${key}: ${text}`),
  fc.constantFrom(
    "list:\n  - description: a",
    "text: |\n  type: b",
    "long: >-\n  updated: c\n  d",
    "# type: d",
    "map:\n  type: e",
  ),
);

test("a simple field has the library's value", () => {
  let compared = 0;
  fc.assert(
    fc.property(fc.uniqueArray(line, { maxLength: 6, selector: (text) => text.split(":")[0] }), (lines) => {
      const text = `${lines.join("\n")}\n`;
      const whole = parseFields(text);
      // What the library refuses, a call that reads one file refuses.
      if (whole === null) return;
      for (const [key, plain] of plainFields(text)) {
        compared++;
        expect({ text, value: whole.get(key) }).toEqual({ text, value: plain });
      }
    }),
    { numRuns: 8_000 },
  );
  expect(compared).toBeGreaterThan(500);
});
