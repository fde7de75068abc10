/** One block at a time: each side reads the blocks of the other, and the files are the same. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { blockOf, normalised, trimmed, withoutTimes, writtenTime } from "./block-text.ts";
import { forgingSamples, plainSamples, trimmedTagSamples } from "./samples.ts";
import type { Sample } from "./samples.ts";
import { dataOf, readBlock, shownBlocks, useStage } from "./stage.ts";
import type { Both } from "./stage.ts";

const stageFor = useStage();

const input = ({ key, content, tags }: Sample): object => ({ key, content, ...(tags && { tags }) });

/** Fails unless both tools give the same answers about one journal. */
async function expectSameReading({ agentool, memcell }: Both): Promise<void> {
  const blocks = await shownBlocks(agentool);
  expect(await shownBlocks(memcell)).toEqual(blocks);
  for (const { key } of blocks) {
    expect(await memcell("memory_read", { key })).toEqual(await agentool("memory_read", { key }));
  }
}

test.for([...plainSamples, ...trimmedTagSamples])(
  "$what: both read the same, and write the same bytes",
  async (sample, context) => {
    const stage = stageFor(context);
    const [theirs, ours, key] = [stage.fresh(), stage.fresh(), trimmed(sample.key)];
    const { path } = dataOf(await theirs.agentool("memory_write", input(sample)));
    // memcell writes at the same time.
    const epochMs = Date.parse(String((await readBlock(theirs.agentool, key))["updated_at"]));
    stage.clock.epochMs = epochMs;
    const answer = await ours.memcell("memory_write", input(sample));
    expect(answer).toEqual({ success: true, data: { key, target: "daily", path } });

    for (const each of [theirs, ours]) await expectSameReading(each);
    expect(await shownBlocks(ours.agentool)).toEqual(await shownBlocks(theirs.agentool));
    const tags = (sample.tags ?? []).map(trimmed).filter((tag) => tag !== "");
    const at = writtenTime(epochMs);
    const expected = { key, content: normalised(sample.content), tags, created_at: at, updated_at: at };
    expect(await readBlock(ours.agentool, key)).toMatchObject(expected);
    if (trimmedTagSamples.includes(sample)) return;
    const [their, our] = [theirs, ours].map(({ journal }) => readFileSync(join(journal, String(path)), "utf8"));
    expect(withoutTimes(our ?? "")).toBe(withoutTimes(their ?? ""));
    expect(our).toContain(`\n<!-- agentool-memory: at=${at} `);
  },
);

test("files with spaces and letters of any script in their names: both read the same", async (context) => {
  const at = "2020-01-01T00:00:00+00:00";
  const files = { "with space.md": blockOf("k", "x", at), "notes/日記 é.md": blockOf("other", "y", at) };
  await expectSameReading(stageFor(context).fresh(files));
});

/** What people and other programs write, for which neither tool has a form of its own. */
const byHand = [
  "# A title\n\n## Section\nplain text\n",
  "### k1\nby hand\n### k2\n\n\nx\n\ny\n\n<!-- agentool-memory: at=2099 -->\n\n",
  "### two words\nx\n<!-- agentool-memory: at=2099 tags=a|b -->\n",
  "### ключ\n<!-- agentool-memory: at=2099 tags=| a || -->\nlost text\n",
  "###  spaced key \t\nx\n  <!-- agentool-memory:at=2099 tags=a-->  \n",
  "### broken meta\nx\n<!-- agentool-memory: nothing -->\nlost\n",
  "### broken too\nx\n<!-- agentool-memory: at=2099\n",
  "### \nno key\n<!-- agentool-memory: at=2099 tags=stray -->\n",
  "### a\u00a0b\nx\n### k1\nwithout an end",
  "### crlf\r\n\r\nl1\r\nl2\r\n\r\n<!-- agentool-memory: at=2099 tags=a -->\r\n\r\n",
  "```\n### fenced\n```\n<!-- agentool-memory: at=2099 -->\n",
  "### k1\na\n### k1\nb\n### k1\nc\n<!-- agentool-memory: at=1999 -->\n",
];

test.for(byHand)("both read the same in a file by hand: %j", async (piece, context) => {
  const stage = stageFor(context);
  for (const path of ["notes.md", "MEMORY.md", "2020/01/01.md", "2020/01/02.MD", "sub/x.txt"])
    await expectSameReading(stage.fresh({ [path]: piece, "other.md": blockOf("k1", "other", "2050-01-01") }));
});

describe("a content that forges a block", () => {
  test.for(forgingSamples)("$what: both read the same from agentool's block", async (sample, context) => {
    const both = stageFor(context).fresh();
    dataOf(await both.agentool("memory_write", input(sample)));
    const [first] = await shownBlocks(both.agentool);
    // Otherwise the sample does not forge.
    expect(first).not.toMatchObject({ key: "k1", content: normalised(sample.content) });
    expect(await shownBlocks(both.memcell)).toEqual(await shownBlocks(both.agentool));
  });

  test.for(forgingSamples)("$what: memcell's block is one block", async (sample, context) => {
    const stage = stageFor(context);
    const both = stage.fresh();
    const epochMs = Date.now();
    stage.clock.epochMs = epochMs;
    dataOf(await both.memcell("memory_write", input(sample)));
    const times = { created_at: writtenTime(epochMs), updated_at: writtenTime(epochMs) };
    const shown = { key: "k1", tags: ["a"], kind: "daily" };
    for (const { ask, content } of [
      { ask: both.agentool, content: sample.agentoolShows },
      { ask: both.memcell, content: sample.memcellShows },
    ]) {
      expect(await shownBlocks(ask)).toEqual([{ ...shown, content, file: expect.any(String) as unknown }]);
      expect(await readBlock(ask, "k1")).toMatchObject({ ...shown, content, ...times });
    }
  });
});
