/**
 * Random calls and hand edits on both sides, each in its own folder. After each step both give the same answer and show
 * the same blocks. They may differ only by the holes that memcell closes: those calls are translated for agentool.
 */
import { expect, test } from "vitest";

import { firstHidden } from "../../shared/hidden-text.ts";
import { isLong } from "../stage/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { trimmed } from "./block-text.ts";
import { Comparison } from "./compare-answers.ts";
import { randomEdit } from "./hand-edits.ts";
import { randomCall } from "./random-calls.ts";
import type { RandomCall } from "./random-calls.ts";
import { useStage } from "./stage.ts";
import type { Answer, Ask } from "./stage.ts";

const stageFor = useStage();
const steps = 300;
const everything = { query: "", limit: 100 };

/** The parameters for agentool, or the code with which only memcell must answer. */
type Translated = { readonly params: object } | { readonly code: string };

const isSeenLine = (text: string): boolean => !/\p{Cc}/u.test(text) && firstHidden(text) === null;
const isUnfitTag = (tag: string): boolean => /[|]|--!?>/.test(tag) || !isSeenLine(tag) || tag.length > 100;
const isUnfitKey = (key: string): boolean => !isSeenLine(key) || key.length > 200;

/** Translates a call for agentool: escapes content that would forge, and adds the tags that memcell keeps. */
async function translated(call: RandomCall, agentool: Ask, comparison: Comparison): Promise<Translated> {
  const { key, content, tags, target } = call.params as {
    key?: string;
    content?: string;
    tags?: string[] | null;
    target?: unknown;
  };
  if (call.tool === "memory_search")
    return { params: { ...call.params, ...(tags && { tags: comparison.wanted(tags) }) } };
  // Both sides refuse these.
  if (key === undefined || content === undefined || trimmed(key) === "") return { params: call.params };
  if (tags?.some(isUnfitTag)) {
    comparison.count("tag refused");
    return { code: "INVALID_PATH" };
  }
  const present = await agentool("memory_read", { key });
  const isNew = call.tool === "memory_write" && "code" in present && target !== "nope";
  if (isNew && isUnfitKey(trimmed(key)) && !/[\r\n]/.test(trimmed(key))) {
    comparison.count("key refused");
    return { code: "MEMORY_INVALID_KEY" };
  }
  const params = { ...call.params, content: comparison.forAgentool(content) };
  if (call.tool === "memory_write" || (tags ?? null) !== null || "code" in present) return { params };
  comparison.count("tags kept");
  return { params: { ...params, tags: present.data["tags"] } };
}

const seeds = Array.from({ length: isLong ? 40 : 4 }, (_, at) => at + 1);

test.for(seeds)(`the same calls and edits on both sides, seed %i: ${steps} steps`, async (seed, context) => {
  const stage = stageFor(context);
  const [theirs, ours] = [stage.fresh(), stage.fresh()];
  const comparison = new Comparison();
  const random = seededRandom(seed);
  let day = Date.UTC(2026, 0, 1);

  const expectSame = (their: Answer, our: Answer, what: string): void =>
    expect(our, what).toEqual(comparison.expected(their, our));
  const expectSameSeen = async (what: string): Promise<void> =>
    expectSame(
      await theirs.agentool("memory_search", everything),
      await ours.memcell("memory_search", everything),
      `${what}: what is seen then`,
    );
  for (let step = 0; step < steps; step++) {
    if (random() < 0.1) {
      const edit = randomEdit(random);
      for (const { journal } of [theirs, ours]) edit.apply(journal);
      await expectSameSeen(`seed ${seed}, step ${step}: ${edit.what}`);
      continue;
    }
    const call = randomCall(random, seed % 2 === 0 ? 0.3 : 0.03);
    const what = `seed ${seed}, step ${step}: ${call.tool} ${JSON.stringify(call.params)}`;
    const asked = await translated(call, theirs.agentool, comparison);
    const their = "code" in asked ? asked : await theirs.agentool(call.tool, asked.params);
    day = dayOf(their) ?? day;
    // agentool uses the machine's clock. memcell's clock has the same day, and advances a second with each step.
    stage.clock.epochMs = day + step * 1000;
    expectSame(their, await ours.memcell(call.tool, call.params), what);
    await expectSameSeen(what);
  }
  await context.annotate(JSON.stringify(comparison.counts));
});

function dayOf(answer: Answer): number | null {
  const path = "data" in answer ? answer.data["path"] : null;
  const found = /^(20[2-9]\d)\/(\d\d)\/(\d\d)\.md$/.exec(String(path));
  if (!found || "kind" in (answer as { data: object }).data) return null;
  const [, year, month, date] = found.map(Number);
  return Date.UTC(Number(year), Number(month) - 1, date);
}
