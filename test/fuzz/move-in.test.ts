/** Whatever people keep, in pieces of any size: nothing fails, every entry can be read, and the pieces make no difference. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { convertFiles } from "../../plugin/move-in/convert-files.ts";
import { parseEntry } from "../../plugin/user-memory/entry-file.ts";
import { runs } from "../stage/random-runs.ts";
import { moveIn } from "../support/move-in.ts";
import type { MovedIn } from "../support/move-in.ts";

const parts =
  `--- |title: a|type: note|tags: [a]|name: [x]|created: 2024-01-01|description: |- |* |1. |[2024-01-01] - |# |## h|` +
  "```|[[x]]|[a](a.md) — hook|é|日本|😀|\u200b|\u0001|: |#|'|\"|\\|{|}|[|]|,|null|5|" +
  '"memory": "a"|{"memory":"b"}|"results": [|\\"|\\\\|\\u00e9|  |\t|\r\n|\n|\n|\n|word |other |Text.';
const text = fc.array(fc.constantFrom(...parts.split("|")), { maxLength: 40 }).map((pieces) => pieces.join(""));
const path = fc.constantFrom(
  "MEMORY.md",
  "a.md",
  "b/a.md",
  "b/MEMORY.md",
  "c.txt",
  "d.json",
  "é.md",
  "../x",
  ".h/y.md",
  "constructor",
  "__proto__.md",
  "",
);
const items = fc.array(
  fc.record({ memory: text, user_id: fc.constantFrom("", "a", "b"), metadata: fc.jsonValue({ maxDepth: 3 }) }),
);
const memories = items.map((each) => JSON.stringify(each));
const files = fc.dictionary(path, fc.oneof(text, memories), { maxKeys: 4 });

const moved = (given: Record<string, string>, options = {}): Promise<MovedIn> => moveIn(given, convertFiles, options);

test("every entry can be read and has its text, and nothing is neither an entry nor named", async () => {
  const format = fc.constantFrom(undefined, "list", "mem0", "markdown", "claude-code");
  await fc.assert(
    fc.asyncProperty(files, format, async (given, chosen) => {
      const { entries, left } = await moved(given, chosen === undefined ? {} : { format: chosen });
      for (const { path: to, content } of entries) {
        const entry = parseEntry(content, to.slice(0, -".md".length));
        expect(entry).toMatchObject({ incomplete: null });
        expect(to).toMatch(/^[a-zA-Z0-9_-]{1,100}\.md$/);
      }
      const all = entries.map(({ content }) => content).join("\n");
      for (const [from, whole] of Object.entries(given)) {
        const isLeft = left.some(({ path: named }) => named === from);
        const isThere = all.includes(whole.replace(/^\ufeff?---[^]*?\n---[ \t]*\r?(?:\n|$)/, "").trim());
        const hasNoWords = !/[\p{L}\p{N}]/u.test(whole);
        if (chosen === undefined && from.endsWith(".md") && Object.keys(given).length > 1)
          expect([from, isLeft || isThere || hasNoWords]).toEqual([from, true]);
      }
    }),
    runs(300),
  );
});

/** A file, and the parts of it that a piece must hold whole. */
interface Divided {
  readonly path: string;
  readonly whole: string;
  readonly parts: readonly string[];
}

test("a list or an export in pieces is what it is as a whole", async () => {
  const lines = fc.array(text, { maxLength: 30 }).map((each): Divided => {
    const whole = each.join("\n");
    return { path: "c.txt", whole, parts: whole.split(/\n(?![ \t])/) };
  });
  const exported = items.map((each): Divided => ({
    path: "d.json",
    whole: JSON.stringify({ users: [each], results: each }),
    parts: each.map((item) => JSON.stringify(item)),
  }));
  await fc.assert(
    fc.asyncProperty(fc.oneof(lines, exported), fc.integer({ min: 16, max: 64 }), async (divided, margin) => {
      const { path: from, whole, parts: each } = divided;
      // A text that opens front matter is a note.
      fc.pre(!/^\ufeff?---/.test(whole));
      const bytesMax = Math.max(0, ...each.map((part) => Buffer.byteLength(part))) + margin;
      const inPieces = await moved({ [from]: whole }, { bytesMax });
      const inOne = await moved({ [from]: whole });
      expect({ ...inPieces, calls: inOne.calls }).toEqual(inOne);
    }),
    runs(300),
  );
});
