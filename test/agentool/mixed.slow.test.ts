/** Both tools in turn on one folder: each reads the blocks that the other has written. */
import { readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { seededRandom } from "../support/seeded-random.ts";
import { escaped, normalised, trimmed } from "./block-text.ts";
import { pick, randomCall } from "./random-calls.ts";
import { dataOf, shownBlocks } from "./stage.ts";
import type { Ask, Stage } from "./stage.ts";
import { useStage } from "./use-stage.ts";

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

async function expectKnown(stage: Stage, user: string, known: ReadonlyMap<string, Known>, what: string): Promise<void> {
  const [agentool, memcell] = [stage.agentool(user), stage.memcell(user)];
  const [theirs, ours] = [await shownBlocks(agentool), await shownBlocks(memcell)];
  const shown = ours.map((block) => ({ ...block, content: known.get(block.key)?.written }));
  expect(theirs, what).toEqual(shown);
  expect(ours.map(({ key }) => key).toSorted(), what).toEqual([...known.keys()].toSorted());
  for (const { key, content, tags } of ours) {
    const expected = known.get(key);
    expect({ key, content, tags }, what).toEqual({ key, content: expected?.content, tags: expected?.tags });
    const [their, our] = [
      dataOf(await agentool("memory_read", { key })),
      dataOf(await memcell("memory_read", { key })),
    ];
    expect(our, what).toMatchObject({ content, tags, updated_at: their["updated_at"], created_at: expected?.created });
  }
}

test.for([1, 2])(`both tools agree on one folder after ${steps} calls in turn, seed %i`, async (seed, context) => {
  const stage = stageFor(context);
  const user = stage.newUser();
  stage.clock.epochMs = null;
  const random = seededRandom(seed);
  const known = new Map<string, Known>();
  for (let step = 0; step < steps; step++) {
    const isOurs = random() < 0.5;
    const ask: Ask = isOurs ? stage.memcell(user) : stage.agentool(user);
    const { tool, params } = randomCall(random, isOurs ? 0.3 : 0);
    const what = `seed ${seed}, step ${step}: ${isOurs ? "memcell" : "agentool"} ${tool} ${JSON.stringify(params)}`;
    const { tags: givenTags, ...rest } = params;
    // Tags that would break agentool's own line are left out here.
    const tags = Array.isArray(givenTags) ? [pick(random, ["a", "b", "two words", "ключ"])] : null;
    const answer = await ask(tool, "content" in params ? { ...rest, tags } : params);
    const { key, content } = params as { key: string; content: string };
    if ("code" in answer || (tool !== "memory_write" && tool !== "memory_update")) continue;
    const name = trimmed(key);
    const at = String(dataOf(await stage.agentool(user)("memory_read", { key: name }))["updated_at"]);
    const before = known.get(name);
    const isKept = isOurs && tool === "memory_update";
    known.set(name, {
      content: normalised(content),
      tags: tags ?? (isKept ? (before?.tags ?? []) : []),
      created: isKept ? (before?.created ?? "") : at,
      written: normalised(isOurs ? escaped(content) : content),
    });
    await expectKnown(stage, user, known, what);
  }
  expect(known.size).toBeGreaterThan(5);
});

/** A journal with one hand-written file. */
function journalOf(stage: Stage, text: string): { user: string; read: () => string } {
  const user = stage.newUser();
  const file = join(stage.journal(user), "MEMORY.md");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return { user, read: () => readFileSync(file, "utf8") };
}

const blockText = (key: string, content: string): string =>
  `### ${key}\n\n${content}\n\n<!-- agentool-memory: at=2020-01-01T00:00:00+00:00 -->\n`;

/** agentool's update leaves memcell's line behind in the block's old place. */
test("the line of a block that agentool has replaced does not apply to the block before it", async (context) => {
  const stage = stageFor(context);
  // The text lacks the empty line that both tools leave at the end of a file.
  const { user, read } = journalOf(stage, blockText("before", "\\### kept"));
  const before = await stage.memcell(user)("memory_read", { key: "before" });
  dataOf(await stage.memcell(user)("memory_write", { key: "k", content: "### forging", target: "summary" }));
  dataOf(await stage.memcell(user)("memory_update", { key: "k", content: "### forging" }));
  dataOf(await stage.agentool(user)("memory_update", { key: "k", content: "replaced" }));
  expect(await stage.memcell(user)("memory_read", { key: "before" }), read()).toEqual(before);
  expect(await stage.agentool(user)("memory_read", { key: "before" })).toEqual(before);
});

test("the line does not apply to an earlier block when the block between is removed", async (context) => {
  const stage = stageFor(context);
  const { user, read } = journalOf(stage, blockText("before", "\\### kept") + blockText("between", "x") + "\n");
  const before = await stage.memcell(user)("memory_read", { key: "before" });
  dataOf(await stage.memcell(user)("memory_write", { key: "k", content: "### forging", target: "summary" }));
  dataOf(await stage.agentool(user)("memory_update", { key: "k", content: "replaced" }));
  dataOf(await stage.memcell(user)("memory_update", { key: "between", content: "y" }));
  expect(await stage.memcell(user)("memory_read", { key: "before" }), read()).toEqual(before);
});
