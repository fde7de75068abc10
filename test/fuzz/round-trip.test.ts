/** Entries and index lines with random text are read back unchanged. */
import fc from "fast-check";
import { test } from "vitest";

import { formatFields, parseFields } from "../../plugin/front-matter.ts";
import { formatEntry, parseEntry } from "../../plugin/user-memory/entry-file.ts";
import { IndexFile } from "../../plugin/user-memory/index-file.ts";
import { entryLineIn } from "../../plugin/user-memory/index-line.ts";
import { bodyField, descriptionField } from "../../plugin/user-memory/schemas/fields.ts";
import { safeParse } from "../../shared/zod.ts";

/** Text that is difficult for YAML, Markdown and memcell's own formats. */
const awkward = fc.constantFrom(
  "---",
  "\n",
  "\r\n",
  "\r",
  "- [a](a.md) \u2014 ",
  ": ",
  " #",
  "'",
  '"',
  "\\",
  "|",
  ">",
  "&a",
  "*a",
  "!!",
  "%",
  "{",
  "[",
  "\t",
  "\ufeff",
  "\u2028",
  "😀",
);
const body = fc.array(fc.oneof(fc.string({ unit: "binary" }), awkward)).map((parts) => parts.join(""));
const description = body
  .map((text) => text.replaceAll("\n", " "))
  .filter((text) => safeParse(descriptionField, text).success);
const name = fc
  .stringMatching(/^[a-zA-Z0-9_-]{1,100}$/)
  .filter((each) => !/^(memory|con|prn|aux|nul|com\d|lpt\d)$/i.test(each));

test("an entry's description and body are read back unchanged", () => {
  fc.assert(
    fc.property(name, description, body, (entryName, line, text) => {
      if (!safeParse(bodyField, text).success) return true;
      const fields = { name: entryName, description: line, type: "user", created: "c", updated: "u" } as const;
      const entry = parseEntry(formatEntry(fields, text), "a");
      return "body" in entry && entry.body === text && entry.description === line;
    }),
    { numRuns: 2000 },
  );
});

/** The foreign keys with their values; empty if the front matter cannot be read. */
function foreignOf(fields: ReadonlyMap<string, unknown> | null): string {
  const own = new Set(["name", "description", "type", "created", "updated"]);
  return formatFields([...(fields ?? [])].filter(([key]) => !own.has(key)));
}

test("replacing an entry keeps its foreign keys if its front matter can be read", () => {
  const yaml = fc
    .array(fc.tuple(fc.constantFrom("name", "mine", "type", "x y", '"q"', "# c"), description))
    .map((lines) => lines.map(([key, value]) => `${key}: ${value}\n`).join(""));
  fc.assert(
    fc.property(yaml, body, (replaced, text) => {
      const fields = { name: "a", description: "d", type: "user", created: "c", updated: "u" } as const;
      const entry = parseEntry(formatEntry(fields, text, replaced), "a");
      const isWhole = "body" in entry && entry.body === text && entry.description === "d";
      return isWhole && foreignOf(parseFields(entry.frontMatter ?? "")) === foreignOf(parseFields(replaced));
    }),
    { numRuns: 2000 },
  );
});

test("an index keeps foreign lines and one line for each entry, in any order of changes", () => {
  const change = fc.record({
    name: fc.constantFrom("a", "a-b", "b", "__proto__"),
    description: fc.option(description),
  });
  const prose = fc.array(
    fc.oneof(description, fc.constantFrom("", "# Title", "* [a](a.md) \u2014 starred", "[a](a.md)")),
  );
  fc.assert(
    fc.property(prose, fc.array(change), (lines, changes) => {
      // A byte order mark before the first line belongs to the file, not to the line.
      const own = lines.filter((line) => entryLineIn(line.replace(/^\uFEFF|\r$/g, "")) === null);
      const index = new IndexFile(own.map((line) => `${line}\n`).join(""));
      const expected = new Map<string, string>();
      for (const { name: entryName, description: text } of changes) {
        if (text === null) {
          index.remove(entryName);
          expected.delete(entryName);
        } else {
          index.set(entryName, text);
          expected.set(entryName, text);
        }
      }
      const entryLines = Array.from(
        expected,
        ([entryName, text]) => `- [${entryName}](${entryName}.md) \u2014 ${text}`,
      );
      const written = index.toString().split("\n").slice(0, -1);
      return (
        JSON.stringify(written.map((line) => line.replace(/\r$/, ""))) ===
        JSON.stringify([...own, ...entryLines].map((line) => line.replace(/\r$/, "")))
      );
    }),
    { numRuns: 1000 },
  );
});
