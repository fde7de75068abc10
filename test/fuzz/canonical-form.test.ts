/** memcell's canonical front matter, which is read and written without the YAML library, compared with the library. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { formatFields, joinFrontMatter, splitFrontMatter } from "../../plugin/front-matter.ts";
import { formatCanonicalLines, readCanonicalFile } from "../../plugin/user-memory/canonical-form.ts";

/** Pieces of text that have a meaning in YAML, or almost look as if they had. */
const piece = fc.oneof(
  fc.constantFrom(...Array.from(" -?:,[]{}#&*!|>'\"%@`\\~<=+._/0123456789aefnotxyzNTZ\t\n\r")),
  fc.constantFrom("---", "...", ": ", " #", "''", "- ", "? ", "<<", "\ufeff", "\u2028", "\u0085", "\u00a0", "\ufffe"),
  fc.constantFrom("null", "True", "no", "y", "0x1F", "0o17", "0b1", "1_000", "1e3", ".inf", "-.NaN", "190:20:30"),
  fc.constantFrom("2024-01-01", "2024-1-1 1:2:3", "2024-05-06T07:08:09.123Z", "2001-12-14t21:59:43.10-05:00"),
  fc.constantFrom("日本語", "é", "😀", "\ud83d", "\udc00", "word", "\u2003", "\u3000", "\u1680", "\u200b", "\u00ad"),
  fc.string({ unit: "binary", maxLength: 3 }),
);
const scalar = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));

const keys = ["name", "description", "type", "created", "updated"];
const inOurOrder = (values: readonly string[]): [string, string][] => keys.map((key, at) => [key, values[at] ?? ""]);

test("text is written as the library writes it", () => {
  fc.assert(
    fc.property(scalar, (value) => {
      const lines = formatCanonicalLines([["description", value]]);
      return lines === null || lines === formatFields([["description", value]]);
    }),
    { numRuns: 50_000 },
  );
});

test("every character is written as the library writes it, first or in the middle", () => {
  const units = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit));
  const differs = units
    .flatMap((unit) => [`${unit}a`, `a${unit}a`])
    .filter((value) => {
      const lines = formatCanonicalLines([["description", value]]);
      return lines !== null && lines !== formatFields([["description", value]]);
    });
  expect(differs).toEqual([]);
});

test("text is read as the library reads it", () => {
  const time = fc.constantFrom("'2024-05-06T07:08:09.123Z'", "'1:2'", "'-'", "2024", "''", "'x'", '"2024"');
  const line = fc.oneof(
    scalar,
    scalar.map((text) => `'${text}'`),
    scalar.map((text) => `'${text.replaceAll("'", "''")}'`),
  );
  const front = fc.tuple(line, line, fc.constantFrom("user", "null", "a b", ""), time, time);
  fc.assert(
    fc.property(front, scalar, (values, body) => {
      const text = inOurOrder(values).map(([key, value]) => `${key}: ${value}\n`);
      const file = joinFrontMatter(text.join(""), body);
      const found = readCanonicalFile(file);
      if (found === null) return true;
      const { body: foundBody, ...fields } = found;
      const expected = splitFrontMatter(file);
      expect(Object.entries(fields)).toEqual([...(expected?.fields ?? [])]);
      return expected?.body === foundBody;
    }),
    { numRuns: 50_000 },
  );
});

test.for([
  { name: "a plain sentence", value: "User prefers Japanese output" },
  { name: "a sentence with a colon", value: "Editor: tabs, not spaces" },
  { name: "an apostrophe", value: "don't" },
  { name: "a quoted word", value: "'yes' means no" },
  { name: "a number at the start", value: "3 spaces" },
  { name: "other scripts", value: "日本語で書く 😀" },
  { name: "a dash at the start", value: "- not a list" },
])("$name is written and read without the library", ({ value }) => {
  const time = "2024-05-06T07:08:09.123Z";
  const lines = formatCanonicalLines(inOurOrder(["e1", value, "user", time, time]));
  expect(lines).not.toBeNull();
  expect(readCanonicalFile(joinFrontMatter(lines ?? "", "text"))).toEqual({
    name: "e1",
    description: value,
    type: "user",
    created: time,
    updated: time,
    body: "text",
  });
});

test.for([
  {
    name: "a key that people added",
    text: "name: a\nmine: 1\ndescription: b\ntype: user\ncreated: '1'\nupdated: '1'\n",
  },
  { name: "another order", text: "description: b\nname: a\ntype: user\ncreated: '1'\nupdated: '1'\n" },
  { name: "a comment", text: "name: a # x\ndescription: b\ntype: user\ncreated: '1'\nupdated: '1'\n" },
  { name: "CRLF", text: "name: a\r\ndescription: b\r\ntype: user\r\ncreated: '1'\r\nupdated: '1'\r\n" },
])("$name is left to the library", ({ text }) => {
  expect(readCanonicalFile(joinFrontMatter(text, ""))).toBeNull();
});
