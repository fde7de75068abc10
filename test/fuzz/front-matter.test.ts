/** Entries with any text are read back unchanged, and what is read and written without the YAML library is what it does. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { formatFields, joinFrontMatter, parseFields, splitFrontMatter } from "../../plugin/kit/front-matter.ts";
import { formatCanonicalLines, readCanonicalFile } from "../../plugin/user-memory/canonical-form.ts";
import { formatEntry, parseEntry } from "../../plugin/user-memory/entry-file.ts";
import { plainFields } from "../../plugin/user-memory/plain-fields.ts";
import { bodyField, descriptionField } from "../../plugin/user-memory/schemas/fields.ts";
import { safeParse } from "../../shared/zod.ts";
import { runs } from "../stage/random-runs.ts";

const words =
  "null True no y 0x1F 0o17 0b1 1_000 1e3 .inf -.NaN 190:20:30 2024-01-01 2001-12-14t21:59:43.10-05:00 word é";
const marks = ["---", "...", ": ", " #", "''", "- ", "? ", "<<", "!!", "\r\n", "- [a](a.md) \u2014 ", "2024-1-1 1:2:3"];
/** Pieces of text that have a meaning in YAML or Markdown, or almost look as if they had. */
const piece = fc.oneof(
  fc.constantFrom(...Array.from(" -?:,[]{}#&*!|>'\"%@`\\~<=+._/0123456789aefnotxyzNTZ\t\n\r")),
  fc.constantFrom(...marks, ...words.split(" ")),
  fc.constantFrom(
    ...Array.from("\ufeff\u2028\u0085\u00a0\ufffe\u2003\u3000\u1680\u200b\u00ad日本😀"),
    "\ud83d",
    "\udc00",
  ),
  fc.string({ unit: "binary", maxLength: 3 }),
);
const scalar = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
const body = fc.array(piece).map((pieces) => pieces.join(""));
const description = body
  .map((text) => text.replaceAll("\n", " "))
  .filter((text) => safeParse(descriptionField, text).success);

const keys = ["name", "description", "type", "created", "updated"];
const inOurOrder = (values: readonly string[]): [string, string][] => keys.map((key, at) => [key, values[at] ?? ""]);

const fieldsOf = (name: string, line: string) =>
  ({ name, description: line, type: "user", created: "c", updated: "u" }) as const;

test("an entry's description and body are read back unchanged", () => {
  fc.assert(
    fc.property(description, body, (line, text) => {
      fc.pre(safeParse(bodyField, text).success);
      expect(parseEntry(formatEntry(fieldsOf("a", line), text), "a")).toMatchObject({ body: text, description: line });
    }),
    runs(300),
  );
});

/** The foreign keys with their values; empty if the front matter cannot be read. */
const foreignOf = (fields: ReadonlyMap<string, unknown> | null): string =>
  formatFields([...(fields ?? [])].filter(([key]) => !keys.includes(key)));

test("replacing an entry keeps its foreign keys if its front matter can be read", () => {
  const line = fc.tuple(fc.constantFrom("name", "mine", "type", "x y", '"q"', "# c"), description);
  const yaml = fc.array(line).map((lines) => lines.map(([key, value]) => `${key}: ${value}\n`).join(""));
  fc.assert(
    fc.property(yaml, body, (replaced, text) => {
      const entry = parseEntry(formatEntry(fieldsOf("a", "d"), text, replaced), "a");
      expect(entry).toMatchObject({ body: text, description: "d" });
      const frontMatter = "frontMatter" in entry ? (entry.frontMatter ?? "") : "";
      expect(foreignOf(parseFields(frontMatter))).toBe(foreignOf(parseFields(replaced)));
    }),
    runs(300),
  );
});

const isAsTheLibrary = (value: string): boolean => {
  const lines = formatCanonicalLines([["description", value]]);
  return lines === null || lines === formatFields([["description", value]]);
};

test("text is written as the library writes it, with every character first or in the middle", () => {
  fc.assert(fc.property(scalar, isAsTheLibrary), runs(5_000));
  const units = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit));
  expect(units.flatMap((unit) => [`${unit}a`, `a${unit}a`]).filter((value) => !isAsTheLibrary(value))).toEqual([]);
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
    fc.property(front, scalar, (values, text) => {
      const lines = inOurOrder(values).map(([key, value]) => `${key}: ${value}\n`);
      const file = joinFrontMatter(lines.join(""), text);
      const found = readCanonicalFile(file);
      if (found === null) return;
      const { body: foundBody, ...fields } = found;
      const expected = splitFrontMatter(file);
      expect([Object.entries(fields), foundBody]).toEqual([[...(expected?.fields ?? [])], expected?.body]);
    }),
    runs(5_000),
  );
});

const sentences = ["User prefers Japanese output", "Editor: tabs, not spaces", "don't", "'yes' means no", "3 spaces"];
const others = ["日本語で書く 😀", "- not a list"];

test("an ordinary sentence is written and read without the library, and what people changed is left to it", () => {
  const time = "2024-05-06T07:08:09.123Z";
  for (const value of [...sentences, ...others]) {
    const lines = formatCanonicalLines(inOurOrder(["e1", value, "user", time, time])) ?? expect.fail(value);
    const fields = { name: "e1", description: value, type: "user", created: time, updated: time };
    expect(readCanonicalFile(joinFrontMatter(lines, "text"))).toEqual({ ...fields, body: "text" });
    const [first = "", ...rest] = lines.split("\n");
    const changes = [
      [`${first} # x`, ...rest],
      [first, "mine: 1", ...rest],
      [...rest.slice(0, 1), first, ...rest.slice(1)],
    ];
    for (const changed of changes) expect(readCanonicalFile(joinFrontMatter(changed.join("\n"), ""))).toBeNull();
    expect(readCanonicalFile(joinFrontMatter(lines.replaceAll("\n", "\r\n"), ""))).toBeNull();
  }
});

test("a simple field has the library's value", () => {
  const odd = [..."' '' \" : # - [ { & * ! | > % @ ` ~ \\ , ?".split(" "), ": ", " #", "- ", "\t", "\u00a0"];
  const part = fc.constantFrom("a", "b c", "é", "😀", "true", "12", "2026-01-02", ...odd);
  const value = fc.array(part, { maxLength: 6 }).map((pieces) => pieces.join(""));
  const key = fc.constantFrom("description", "type", "created", "updated", "tags", "x");
  const nested = [
    "list:\n  - description: a",
    "text: |\n  type: b",
    "long: >-\n  updated: c\n  d",
    "# type: d",
    "map:\n  type: e",
  ];
  const line = fc.oneof(
    fc.tuple(key, value).map(([name, text]) => `${name}: ${text}`),
    fc.constantFrom(...nested),
  );
  let compared = 0;
  fc.assert(
    fc.property(fc.uniqueArray(line, { maxLength: 6, selector: (text) => text.split(":")[0] }), (lines) => {
      const text = `${lines.join("\n")}\n`;
      const whole = parseFields(text);
      // What the library refuses, a call that reads one file refuses.
      if (whole === null) return;
      for (const [name, plain] of plainFields(text)) {
        compared++;
        expect({ text, value: whole.get(name) }).toEqual({ text, value: plain });
      }
    }),
    runs(1_000),
  );
  expect(compared).toBeGreaterThan(50);
});
