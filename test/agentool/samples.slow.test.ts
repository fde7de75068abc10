/** One block at a time: each side reads the blocks of the other, and the files are the same. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { normalised, trimmed, withoutTimes, writtenTime } from "./block-text.ts";
import { forgingSamples } from "./forging-samples.ts";
import { plainSamples, trimmedTagSamples } from "./samples.ts";
import type { Sample } from "./samples.ts";
import { dataOf, shownBlocks } from "./stage.ts";
import type { Ask, Stage } from "./stage.ts";
import { useStage } from "./use-stage.ts";

const stageFor = useStage();

const input = ({ key, content, tags }: Sample): object => ({ key, content, ...(tags && { tags }) });

/** A journal that agentool has written, and one that memcell has written at the same time. */
async function written(
  stage: Stage,
  sample: Sample,
): Promise<{ theirs: string; ours: string; path: string; at: string }> {
  const [theirs, ours, key] = [stage.newUser(), stage.newUser(), trimmed(sample.key)];
  const agentool = stage.agentool(theirs);
  const { path } = dataOf(await agentool("memory_write", input(sample)));
  const epochMs = Date.parse(String(dataOf(await agentool("memory_read", { key }))["updated_at"]));
  stage.clock.epochMs = epochMs;
  const answer = await stage.memcell(ours)("memory_write", input(sample));
  expect(answer).toEqual({ success: true, data: { key, target: "daily", path } });
  return { theirs, ours, path: String(path), at: writtenTime(epochMs) };
}

/** Fails unless two tools give the same answers about one journal. */
async function expectSameReading(ask: Ask, other: Ask): Promise<void> {
  const blocks = await shownBlocks(other);
  expect(await shownBlocks(ask)).toEqual(blocks);
  for (const { key } of blocks) {
    expect(await ask("memory_read", { key })).toEqual(await other("memory_read", { key }));
  }
}

describe("both tools read the same from content, key or tags that forge nothing", () => {
  test.for([...plainSamples, ...trimmedTagSamples])("$what", async (sample, context) => {
    const stage = stageFor(context);
    const { theirs, ours, at } = await written(stage, sample);
    await expectSameReading(stage.memcell(theirs), stage.agentool(theirs));
    await expectSameReading(stage.memcell(ours), stage.agentool(ours));
    const key = trimmed(sample.key);
    const tags = (sample.tags ?? []).map(trimmed).filter((tag) => tag !== "");
    expect(await shownBlocks(stage.agentool(ours))).toEqual(await shownBlocks(stage.agentool(theirs)));
    const shown = dataOf(await stage.agentool(ours)("memory_read", { key }));
    const expected = { key, content: normalised(sample.content), tags, created_at: at, updated_at: at };
    expect(shown).toMatchObject(expected);
  });

  test.for(plainSamples)("$what: both write the same bytes", async (sample, context) => {
    const stage = stageFor(context);
    const { theirs, ours, path, at } = await written(stage, sample);
    const [their, our] = [theirs, ours].map((user) => readFileSync(join(stage.journal(user), path), "utf8"));
    expect(withoutTimes(our ?? "")).toBe(withoutTimes(their ?? ""));
    expect(our).toContain(`\n<!-- agentool-memory: at=${at} `);
  });
});

describe("a content that forges a block", () => {
  test.for(forgingSamples)("$what: both read the same from agentool's block", async (sample, context) => {
    const stage = stageFor(context);
    const user = stage.newUser();
    dataOf(await stage.agentool(user)("memory_write", input(sample)));
    const [first] = await shownBlocks(stage.agentool(user));
    // Otherwise the sample does not forge.
    expect(first).not.toMatchObject({ key: "k1", content: normalised(sample.content) });
    expect(await shownBlocks(stage.memcell(user))).toEqual(await shownBlocks(stage.agentool(user)));
  });

  test.for(forgingSamples)("$what: memcell's block is one block", async (sample, context) => {
    const stage = stageFor(context);
    const user = stage.newUser();
    const epochMs = Date.now();
    stage.clock.epochMs = epochMs;
    const at = writtenTime(epochMs);
    dataOf(await stage.memcell(user)("memory_write", input(sample)));
    const times = { created_at: at, updated_at: at };
    const shown = { key: "k1", tags: ["a"], kind: "daily" };
    const expected = [
      { ask: stage.agentool(user), content: sample.agentoolShows },
      { ask: stage.memcell(user), content: sample.memcellShows },
    ];
    for (const { ask, content } of expected) {
      expect(await shownBlocks(ask)).toEqual([{ ...shown, content, file: expect.any(String) as unknown }]);
      expect(dataOf(await ask("memory_read", { key: "k1" }))).toMatchObject({ ...shown, content, ...times });
    }
  });
});
