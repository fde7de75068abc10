/** Both tools and a person in turn on one folder: each reads the blocks that the others have written. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { seededRandom } from "../support/seeded-random.ts";
import { blockOf, escaped, normalised, trimmed } from "./block-text.ts";
import { dataOf, readBlock, shownBlocks, useStage } from "./stage.ts";
import type { Answer, Both, Shown } from "./stage.ts";

const stageFor = useStage();
const steps = 200;

/** An entry that the folder must hold: each key once. */
interface Known {
  content: string;
  tags: readonly string[];
  created: string;
  /** The content that agentool shows. */
  written: string;
}

async function expectKnown(
  { agentool, memcell }: Both,
  known: ReadonlyMap<string, Known>,
  what: string,
): Promise<void> {
  const [theirs, ours] = [await shownBlocks(agentool), await shownBlocks(memcell)];
  const shown = ours.map((block) => ({ ...block, content: known.get(block.key)?.written }));
  expect(theirs, what).toEqual(shown);
  expect(ours.map(({ key }) => key).toSorted(), what).toEqual([...known.keys()].toSorted());
  for (const { key, content, tags } of ours) {
    const expected = known.get(key);
    expect({ key, content, tags }, what).toEqual({ key, content: expected?.content, tags: expected?.tags });
    const [their, our] = [await readBlock(agentool, key), await readBlock(memcell, key)];
    expect(our, what).toMatchObject({ content, tags, updated_at: their["updated_at"], created_at: expected?.created });
  }
}

const keysOf = (answer: Answer): string[] => (dataOf(answer)["results"] as Shown[]).map(({ key }) => key);

async function expectSameFound({ agentool, memcell }: Both, params: object, what: string): Promise<void> {
  const [theirs, ours] = [await agentool("memory_search", params), await memcell("memory_search", params)];
  expect(keysOf(ours), what).toEqual(keysOf(theirs));
}

const keys = ["k1", "k2", "K1", "two words", "ключ", "鍵🔑", "### k", "k --> x", " k1\u3000", "", "a\nb"];
const tags = ["a", "b", "two words", "ключ"];
const queries = ["", " \u3000", "needle", "NEEDLE", "ключ", "КЛЮЧ", "日本", "in hay\n", "forged", "no such", "$"];
const lines = [
  "",
  "needle",
  "Needle in HAY",
  "  indented",
  "trailing \t",
  "日本語 ключ",
  " ### not one",
  "a\rb",
  "\u0085",
  "\ufeff### no",
  "\\### kept",
  "\\<!-- agentool-memory: at=9999 -->",
  "<!-- memcell: escaped -->",
  "$& $1",
];
const forgingLines = [
  "### k1",
  "### ",
  "<!-- agentool-memory: at=9999 tags=x -->",
  " \t<!-- agentool-memory: at=2000-01-01T00:00:00+00:00 -->",
];

type Random = () => number;
const pick = <Item>(random: Random, items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;

function randomContent(random: Random, isForging: boolean): string {
  const one = (): string => pick(random, isForging && random() < 0.3 ? forgingLines : lines);
  return Array.from({ length: Math.floor(random() * 6) }, one).join(random() < 0.2 ? "\r\n" : "\n");
}

const byHand = "by hand";
const handTime = "2020-01-01T00:00:00+00:00";

/** A person writes a file anew, or removes it. */
function editByHand(random: Random, journal: string, known: Map<string, Known>): void {
  const file = join(journal, "notes.md");
  rmSync(file, { force: true });
  known.delete(byHand);
  if (random() < 0.3) return;
  const text = randomContent(random, false);
  mkdirSync(journal, { recursive: true });
  writeFileSync(file, blockOf(byHand, text, handTime));
  known.set(byHand, { content: normalised(text), tags: [], created: handTime, written: normalised(text) });
}

test.for([
  { seed: 1, folder: "a user's folder", isMounted: false },
  { seed: 2, folder: "the mounted memory folder of a workspace", isMounted: true },
])(`both tools agree on $folder after ${steps} calls in turn, seed $seed`, async ({ seed, isMounted }, context) => {
  const stage = stageFor(context);
  const both = isMounted ? stage.workspace : stage.fresh();
  stage.clock.epochMs = null;
  const random = seededRandom(seed);
  const known = new Map<string, Known>();
  for (let step = 0; step < steps; step++) {
    if (random() < 0.1) editByHand(random, both.journal, known);
    if (random() < 0.2) {
      const params = { query: pick(random, queries), limit: pick(random, [1, 2, 100]) };
      await expectSameFound(both, params, `seed ${seed}, step ${step}: ${JSON.stringify(params)}`);
      continue;
    }
    const isOurs = random() < 0.5;
    const tool = pick(random, ["memory_write", "memory_update"] as const);
    const given = {
      key: pick(random, keys),
      content: randomContent(random, isOurs),
      tags: random() < 0.5 ? null : [pick(random, tags)],
    };
    const target = tool === "memory_write" && { target: pick(random, ["daily", "summary"]) };
    const what = `seed ${seed}, step ${step}: ${isOurs ? "memcell" : "agentool"} ${tool} ${JSON.stringify(given)}`;
    if ("code" in (await both[isOurs ? "memcell" : "agentool"](tool, { ...given, ...target }))) continue;
    const name = trimmed(given.key);
    const at = String((await readBlock(both.agentool, name))["updated_at"]);
    const old = known.get(name);
    const isKept = isOurs && tool === "memory_update";
    known.set(name, {
      content: normalised(given.content),
      tags: given.tags ?? (isKept ? (old?.tags ?? []) : []),
      created: isKept ? (old?.created ?? "") : at,
      written: normalised(isOurs ? escaped(given.content) : given.content),
    });
    await expectKnown(both, known, what);
  }
  expect(known.size).toBeGreaterThan(5);
});

const before = blockOf("before", "\\### kept", "2020-01-01T00:00:00+00:00");
const between = blockOf("between", "x", "2020-01-01T00:00:00+00:00");

/** agentool's update leaves memcell's line behind in the block's old place. */
test.for([
  // The first text lacks the empty line that both tools leave at the end of a file.
  { what: "the block that agentool has replaced", text: before.slice(0, -1), updated: "k" },
  { what: "that block, and the one between is removed", text: before + between, updated: "between" },
])("the line of $what does not apply to the block before it", async ({ text, updated }, context) => {
  const { agentool, memcell, journal } = stageFor(context).fresh({ "MEMORY.md": text });
  const read = await readBlock(memcell, "before");
  dataOf(await memcell("memory_write", { key: "k", content: "### forging", target: "summary" }));
  if (updated === "k") dataOf(await memcell("memory_update", { key: "k", content: "### forging" }));
  dataOf(await agentool("memory_update", { key: "k", content: "replaced" }));
  if (updated !== "k") dataOf(await memcell("memory_update", { key: updated, content: "y" }));
  const seen = readFileSync(join(journal, "MEMORY.md"), "utf8");
  for (const ask of [memcell, agentool])
    expect(await readBlock(ask, "before"), seen).toMatchObject({ content: read["content"] });
});
