/** memcell's search finds everything that agentool's case-insensitive search finds. Its further results are listed. */
import { expect, test } from "vitest";

import { dataOf, useStage } from "./stage.ts";
import type { Ask, Both, Shown, Stage } from "./stage.ts";

const stageFor = useStage();

/** A journal with one block for each content, whose key is its number. */
const journalWith = (stage: Stage, contents: readonly string[]): Both =>
  stage.fresh({ "notes.md": contents.map((content, at) => `### ${at}.\n\n${content}\n\n`).join("") });

async function found(ask: Ask, query: string): Promise<readonly string[]> {
  const { results } = dataOf(await ask("memory_search", { query, limit: 100 })) as { results: readonly Shown[] };
  return results.map(({ content }) => content);
}

const casedLetters = Array.from({ length: 0x110000 }, (_, code) =>
  code >= 0xd800 && code < 0xe000 ? "" : String.fromCodePoint(code),
).filter((letter) => letter.toLowerCase() !== letter || letter.toUpperCase() !== letter);

const forms = (text: string): string[] => [...new Set([text, text.toLowerCase(), text.toUpperCase()])];

test("memcell finds every cased letter by each form by which agentool finds it", async (context) => {
  const size = 60;
  const chunks = Array.from({ length: Math.ceil(casedLetters.length / size) }, (_, at) =>
    casedLetters.slice(at * size, (at + 1) * size).join("-"),
  );
  const { agentool, memcell } = journalWith(stageFor(context), chunks);
  // Queries of several letters do not find some of these, so each is searched on its own.
  const alone = casedLetters.filter((each) => each.toUpperCase().toLowerCase() !== each.toLowerCase());
  for (const [searched, foundMin] of [
    [chunks, chunks.length],
    [alone, 50],
  ] as const) {
    let hits = 0;
    for (const query of searched.flatMap(forms)) {
      const theirs = await found(agentool, query);
      expect(await found(memcell, query), query).toEqual(expect.arrayContaining([...theirs]));
      hits += theirs.length;
    }
    expect(hits).toBeGreaterThan(foundMin);
  }
});

const byMoreForms = ["straße STRASSE", "ΟΔΟΣ οδοσ", "ısı ISI", "ﬁn FIN", "ŉ ʼN", "ſ S", "µm ΜM"];

test.for(byMoreForms)("only memcell finds the first by the second: %s", async (pair, context) => {
  const [content = "", query = ""] = pair.split(" ");
  const { agentool, memcell } = journalWith(stageFor(context), [content]);
  expect([await found(agentool, query), await found(memcell, query)]).toEqual([[], [content]]);
});

test.for([
  ["İstanbul", "istanbul"],
  ["é", "e"],
  ["ａ", "a"],
])("neither finds %s by %s", async ([content = "", query = ""], context) => {
  const { agentool, memcell } = journalWith(stageFor(context), [content]);
  expect([await found(agentool, query), await found(memcell, query)]).toEqual([[], []]);
});
