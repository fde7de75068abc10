/**
 * `SearchUserMemory` finds every entry that has a word of the query, and no other. The engine looks for words in the
 * host's replies without making texts of them; the expectation cuts each entry into words.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { fold } from "../../plugin/search/fold.ts";
import { termsOf } from "../../plugin/search/query.ts";
import { stemOf } from "../../plugin/search/stem.ts";
import { wordsIn } from "../../plugin/search/words.ts";
import { parseEntry } from "../../plugin/user-memory/entry-file.ts";
import { runs } from "../stage/random-runs.ts";
import { openStage } from "../stage/runtime.ts";

const stage = await openStage({ plugins: ["user-memory"], threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
const folder = join(stage.dataDir, "users", "alice", "memory");

/** Words, what JSON escapes, what the engine knows beyond ASCII, what it leaves to JavaScript, and fences. */
const plainWords = "boat Boats BOATING row rowed ok true content type x1".split(" ");
const marks = [...Array.from(' \n-\t"\\/\u2014\u2019\u2026_'), "\r\n"];
const odd = [
  "\n---\n",
  "---",
  "\n--- \n",
  "\\n",
  "\\u0041",
  ...Array.from("\u0001\u2028\u200d\u00ad\u2010\u202e\u00a0\ufffd"),
];
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...plainWords) },
  { weight: 4, arbitrary: fc.constantFrom(...marks) },
  fc.constantFrom(...odd),
  fc.constantFrom(..."café cafe\u0301 東京都 猫 Straße ﬁre 😀 Ｂｏａｔ ёлка".split(" ")),
  fc.string({ unit: "binary-ascii", maxLength: 3 }),
);
const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join("").toWellFormed());

const canonical = (description: string, body: string): string =>
  `---\nname: a\ndescription: ${description}\ntype: user\ncreated: '2026-01-02T03:04:05.000Z'\nupdated: '2026-01-02T03:04:05.000Z'\n---\n${body}`;
const file = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom("A boat", "Row", "café", "None"), text)
      .map(([line, body]) => canonical(line, body)),
  },
  text.map((body) => `---\r\ndescription: boats\r\ntype: user\r\n---\r\n${body}`),
  fc
    .tuple(text, text)
    .map(([tag, body]) => `---\ntags: ${JSON.stringify(tag)}\ndescription: d\ntype: user\n---  \n${body}`),
  text,
);
const names = ["a", "boat", "rowBoat", "x1_y", "HTTPBoats"];
const query = fc.oneof(
  fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(" ").toWellFormed()),
  text,
);

test("an entry is found if and only if it has a word of the query", { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(file, { maxLength: names.length }), query, async (files, asked) => {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const [at, each] of files.entries()) writeFileSync(join(folder, `${names[at]}.md`), each);
      const stems = new Set(termsOf(asked).map(({ stem }) => stem));
      const expected =
        asked.trim() === ""
          ? []
          : files.flatMap((each, at) => (hasOne(each, names[at] ?? "", stems) ? [names[at]] : []));
      const result = await stage.runtime.call("SearchUserMemory", { query: `${asked}\u0020?` }, { userId: "alice" });
      if (!result.ok) throw new Error(result.error.message);
      const { entries } = result.data as { entries: { name: string }[] };
      expect(new Set(entries.map(({ name }) => name))).toEqual(new Set(expected));
      expect(entries).toHaveLength(expected.length);
    }),
    runs(60),
  );
});

function hasOne(each: string, name: string, stems: ReadonlySet<string>): boolean {
  const entry = parseEntry(each, name);
  const parts = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replace("HTTPB", "HTTP B");
  // What cannot be read as an entry is found by all of its text.
  const [front, body] = "unreadable" in entry ? ["", entry.text] : [entry.frontMatter ?? "", entry.body];
  const others = front.split("\n").filter((line) => line.startsWith("tags:"));
  const words = wordsIn(fold([name, parts, entry.description ?? "", ...others, body].join("\n")));
  return words.some(
    (word) =>
      stems.has(stemOf(word)) ||
      Array.from(word).some((unit) => stems.has(unit) && word.length === 2 && !/^\w+$/.test(word)),
  );
}
