/** memcell's search finds everything that agentool's case-insensitive search finds. Its further results are listed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { seededRandom } from "../support/seeded-random.ts";
import { pick } from "./random-calls.ts";
import { dataOf } from "./stage.ts";
import type { Ask, Shown, Stage } from "./stage.ts";
import { useStage } from "./use-stage.ts";

const stageFor = useStage();

/** Returns both tools on a journal with one block for each content, whose key is its number. */
function journalWith(stage: Stage, contents: readonly string[]): { agentool: Ask; memcell: Ask } {
  const user = stage.newUser();
  mkdirSync(stage.journal(user), { recursive: true });
  const blocks = contents.map((content, at) => `### ${at}.\n\n${content}\n\n`);
  writeFileSync(join(stage.journal(user), "notes.md"), blocks.join(""));
  return { agentool: stage.agentool(user), memcell: stage.memcell(user) };
}

async function found(ask: Ask, query: string): Promise<readonly string[]> {
  const { results } = dataOf(await ask("memory_search", { query, limit: 100 })) as { results: readonly Shown[] };
  return results.map(({ content }) => content);
}

const surrogates = /\p{Cs}/u;
const casedLetters = Array.from({ length: 0x110000 }, (_, code) =>
  code >= 0xd800 && code < 0xe000 ? "" : String.fromCodePoint(code),
).filter((letter) => letter.toLowerCase() !== letter || letter.toUpperCase() !== letter);
/** Letters of each kind: those that become several, that have two forms, and that no other letter becomes. */
const oddLetters = Array.from("ßẞİıiIŉǰΐΰςσΣſKÅΩθϴϑµμẖẗﬁﬃﬅﬓᾳᾼῼᏸᏰꭰꙋᲈẛ\u0345\u0307");

function randomText(random: () => number): string {
  const letter = (): string =>
    random() < 0.3
      ? pick(random, oddLetters)
      : random() < 0.5
        ? pick(random, casedLetters)
        : pick(random, ["a", " ", "日", "🔑"]);
  return Array.from({ length: 1 + Math.floor(random() * 6) }, letter).join("");
}

function recased(random: () => number, text: string): string {
  return pick(random, [
    text,
    text.toLowerCase(),
    text.toUpperCase(),
    text.toLowerCase().toUpperCase(),
    text.toUpperCase().toLowerCase(),
  ]);
}

/** A random part of the text, never half a letter. */
function partOf(random: () => number, text: string): string {
  const letters = Array.from(text);
  const start = Math.floor(random() * letters.length);
  return letters.slice(start, start + 1 + Math.floor(random() * 3)).join("");
}

const forms = (text: string): Set<string> => new Set([text, text.toLowerCase(), text.toUpperCase()]);

test.for([1, 2])("memcell finds what agentool finds in random text, seed %i", async (seed, context) => {
  const random = seededRandom(seed);
  const contents = Array.from({ length: 90 }, () => randomText(random)).filter((text) => !surrogates.test(text));
  const { agentool, memcell } = journalWith(stageFor(context), contents);
  let hits = 0;
  for (let time = 0; time < 300; time++) {
    const query = recased(random, partOf(random, pick(random, contents)));
    const [theirs, ours] = [await found(agentool, query), await found(memcell, query)];
    expect(ours, `seed ${seed}, time ${time}: ${JSON.stringify(query)}`).toEqual(expect.arrayContaining([...theirs]));
    hits += theirs.length;
  }
  expect(hits).toBeGreaterThan(300);
});

test("memcell finds every cased letter by each form by which agentool finds it", async (context) => {
  const size = 60;
  const chunks = Array.from({ length: Math.ceil(casedLetters.length / size) }, (_, at) =>
    casedLetters.slice(at * size, (at + 1) * size).join("-"),
  );
  const { agentool, memcell } = journalWith(stageFor(context), chunks);
  const letters = { whole: 0, alone: 0 };
  for (const chunk of chunks) {
    for (const query of forms(chunk)) {
      const theirs = await found(agentool, query);
      expect(await found(memcell, query), query).toEqual(expect.arrayContaining([...theirs]));
      letters.whole += theirs.length;
    }
  }
  // Queries of several letters do not find some of these, so each is searched on its own.
  for (const letter of casedLetters.filter((each) => each.toUpperCase().toLowerCase() !== each.toLowerCase())) {
    for (const query of forms(letter)) {
      const theirs = await found(agentool, query);
      expect(await found(memcell, query), query).toEqual(expect.arrayContaining([...theirs]));
      letters.alone += theirs.length;
    }
  }
  expect(letters.whole).toBeGreaterThan(chunks.length);
  expect(letters.alone).toBeGreaterThan(50);
});

describe("memcell's further results", () => {
  test.for([
    ["straße", "STRASSE"],
    ["STRASSE", "straße"],
    ["ΟΔΟΣ", "οδοσ"],
    ["ısı", "ISI"],
    ["ﬁn", "FIN"],
    ["ŉ", "ʼN"],
    ["ſ", "S"],
    ["µm", "ΜM"],
  ])("memcell finds %s by %s", async ([content = "", query = ""], context) => {
    const { agentool, memcell } = journalWith(stageFor(context), [content]);
    expect([await found(agentool, query), await found(memcell, query)]).toEqual([[], [content]]);
  });

  test.for([
    ["İstanbul", "istanbul"],
    ["é", "e"],
    ["e\u0301", "é"],
    ["ａ", "a"],
  ])("neither tool finds %s by %s", async ([content = "", query = ""], context) => {
    const { agentool, memcell } = journalWith(stageFor(context), [content]);
    expect([await found(agentool, query), await found(memcell, query)]).toEqual([[], []]);
  });
});
