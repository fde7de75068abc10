/** The holes that memcell closes and its other intended differences, each with both answers. */
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { blockOf, withoutTimes } from "./block-text.ts";
import { dataOf, readBlock, shownBlocks, useStage } from "./stage.ts";
import type { Ask } from "./stage.ts";

const stageFor = useStage();

const old = "2020-01-01T00:00:00+00:00";
const contentsOf = async (ask: Ask): Promise<string[]> => (await shownBlocks(ask)).map(({ content }) => content);
const keysOf = async (ask: Ask): Promise<string[]> => (await shownBlocks(ask)).map(({ key }) => key);

describe("the newer of two times", () => {
  test.for([
    ["an offset", "2026-01-01T09:00:00+09:00", "2026-01-01T01:00:00+00:00"],
    ["a letter for the offset", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+00:00"],
    ["a text that is no time", "yesterday", "2026-01-01T00:00:00+00:00"],
  ])("%s: agentool compares the text, memcell the time", async ([, newerAsText = "", newerAsTime = ""], context) => {
    const files = { "MEMORY.md": blockOf("k", "by text", newerAsText) + blockOf("k", "by time", newerAsTime) };
    const { agentool, memcell } = stageFor(context).fresh(files);
    expect(await readBlock(agentool)).toMatchObject({ content: "by text" });
    expect(await readBlock(memcell)).toMatchObject({ content: "by time" });
    expect([await contentsOf(agentool), await contentsOf(memcell)]).toEqual([
      ["by text", "by time"],
      ["by time", "by text"],
    ]);
  });
});

test("an update without tags: agentool clears them, memcell keeps them", async (context) => {
  for (const [name, tags] of [
    ["agentool", []],
    ["memcell", ["a", "b"]],
  ] as const) {
    const { [name]: ask } = stageFor(context).fresh();
    dataOf(await ask("memory_write", { key: "k", content: "x", tags: ["a", "b"] }));
    dataOf(await ask("memory_update", { key: "k", content: "y" }));
    expect((await readBlock(ask))["tags"]).toEqual(tags);
  }
});

test("an update: agentool forgets when the block was first written, memcell does not", async (context) => {
  const stage = stageFor(context);
  const { agentool, memcell } = stage.fresh({ "a.md": blockOf("k", "x", "2020-01-01T00:00:00.5+00:00") });
  stage.clock.epochMs = Date.UTC(2026, 0, 1);
  dataOf(await memcell("memory_update", { key: "k", content: "y" }));
  const [created, updated] = ["2020-01-01T00:00:00.5+00:00", "2026-01-01T00:00:00+00:00"];
  expect(await readBlock(memcell)).toMatchObject({ created_at: created, updated_at: updated });
  expect(await readBlock(agentool)).toMatchObject({ created_at: updated, updated_at: updated });
});

test("many updates: agentool's file grows by a line with each, but memcell's does not", async (context) => {
  for (const [name, lines] of [
    ["agentool", "\n\n\n"],
    ["memcell", ""],
  ] as const) {
    const { [name]: ask, journal } = stageFor(context).fresh();
    dataOf(await ask("memory_write", { key: "k", content: "x", target: "summary" }));
    for (let time = 0; time < 3; time++) dataOf(await ask("memory_update", { key: "k", content: "x" }));
    const text = withoutTimes(readFileSync(join(journal, "MEMORY.md"), "utf8"));
    const written = text.replace(/\n<!-- memcell: created=\S+ -->/, "");
    expect(written).toBe(`${lines}### k\n\nx\n\n<!-- agentool-memory: at=… -->\n\n`);
  }
});

test("a key whose accent stands apart: to agentool it is another key, to memcell the same", async (context) => {
  const [apart, composed] = ["e\u0301", "\u00e9"];
  const { agentool, memcell } = stageFor(context).fresh();
  dataOf(await agentool("memory_write", { key: apart, content: "x" }));
  expect(await memcell("memory_write", { key: composed, content: "y" })).toEqual({ code: "MEMORY_KEY_EXISTS" });
  expect(await readBlock(memcell, composed)).toMatchObject({ content: "x" });
  dataOf(await agentool("memory_write", { key: composed, content: "y" }));
  expect((await keysOf(agentool)).toSorted()).toEqual([apart, composed]);
});

test("memcell trusts its own line in a content that agentool has written", async (context) => {
  const { agentool, memcell } = stageFor(context).fresh();
  const meta = "<!-- agentool-memory: at=2020-01-01T00:00:00+00:00 -->";
  const content = `\\### a\n${meta}\n<!-- memcell: created=2019-01-01T00:00:00+00:00 escaped -->`;
  dataOf(await agentool("memory_write", { key: "k", content }));
  const times = { updated_at: "2020-01-01T00:00:00+00:00" };
  const [theirs, ours] = [await readBlock(agentool), await readBlock(memcell)];
  expect(theirs).toMatchObject({ ...times, content: "\\### a", created_at: times.updated_at });
  expect(ours).toMatchObject({ ...times, content: "### a", created_at: "2019-01-01T00:00:00+00:00" });
});

test("a file that is not text: every call of agentool fails, but memcell leaves the file out", async (context) => {
  const files = { "a.md": blockOf("k", "x", old), "notes/b.md": Buffer.from([0x66, 0xff, 0x0a]) };
  const { agentool, memcell } = stageFor(context).fresh(files);
  for (const [tool, params] of [
    ["memory_read", { key: "k" }],
    ["memory_search", { query: "" }],
    ["memory_write", { key: "new", content: "y" }],
    ["memory_update", { key: "k", content: "y" }],
  ] as const) {
    expect(await agentool(tool, params)).toEqual({ code: "MEMORY_STORAGE_ERROR" });
    expect(await memcell(tool, params)).toMatchObject({ success: true });
  }
});

test("a link to a file: agentool follows it out of the workspace, but memcell does not", async (context) => {
  const stage = stageFor(context);
  const outside = stage.fresh({ "secret.md": blockOf("secret", "x", old) });
  const { agentool, memcell, journal } = stage.fresh({ "a.md": blockOf("k", "x", old) });
  symlinkSync(join(outside.journal, "secret.md"), join(journal, "b.md"));
  expect([await keysOf(agentool), await keysOf(memcell)]).toEqual([["k", "secret"], ["k"]]);
});

test.for(["trash/a.md", ".hidden/a.md"])(
  "a file named %s: agentool reads it, but memcell does not",
  async (path, context) => {
    const { agentool, memcell } = stageFor(context).fresh({
      [path]: blockOf("k", "x", old),
    });
    expect(await memcell("memory_read", { key: "k" })).toEqual({ code: "MEMORY_KEY_NOT_FOUND" });
    expect(await keysOf(agentool)).toEqual(["k"]);
  },
);

test("the tags of a search: agentool uses them as they are, but memcell trims them", async (context) => {
  const { agentool, memcell } = stageFor(context).fresh();
  dataOf(await agentool("memory_write", { key: "k", content: "x", tags: ["a"] }));
  for (const tags of [[" a "], [""]]) {
    expect(dataOf(await agentool("memory_search", { query: "", tags }))["results"]).toEqual([]);
    expect(dataOf(await memcell("memory_search", { query: "", tags }))["results"]).toHaveLength(1);
  }
});
