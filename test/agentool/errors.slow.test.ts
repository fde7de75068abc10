/** Calls that fail: both sides answer with the same code, or a table says why not. */
import { existsSync } from "node:fs";

import { expect, test } from "vitest";

import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { LineHost } from "../polyglot/line-host.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { dataOf, useStage } from "./stage.ts";
import type { Ask, Stage, Tool } from "./stage.ts";

const stageFor = useStage();

type Call = readonly [tool: Tool, params: object];

/** `there` is a key that exists. */
const alike: readonly (readonly [code: string, ...Call])[] = [
  ["MEMORY_KEY_EXISTS", "memory_write", { key: "there", content: "x" }],
  ["MEMORY_KEY_EXISTS", "memory_write", { key: " \u0085there\u3000\n", content: "x", target: "summary" }],
  ["MEMORY_KEY_NOT_FOUND", "memory_read", { key: "missing" }],
  ["MEMORY_KEY_NOT_FOUND", "memory_update", { key: "missing", content: "x" }],
  ["MEMORY_INVALID_TARGET", "memory_write", { key: "x", content: "y", target: "nope" }],
  ["MEMORY_INVALID_KEY", "memory_write", { key: " \u0085\u3000\n", content: "y", target: "nope" }],
  ["MEMORY_INVALID_KEY", "memory_write", { key: "a\nb", content: "y" }],
  ["MEMORY_KEY_NOT_FOUND", "memory_update", { key: "there\r\nx", content: "y" }],
  ["INVALID_PATH", "memory_write", {}],
  ["INVALID_PATH", "memory_write", { key: 1, content: "y" }],
  ["INVALID_PATH", "memory_write", { key: "x", content: null, target: "nope" }],
  ["INVALID_PATH", "memory_update", { key: "missing" }],
  ["INVALID_PATH", "memory_search", {}],
];

/** Calls that memcell refuses and version 0.2.0 of the crate accepts. */
const stricter: readonly (readonly [reason: string, code: string, ...Call])[] = [
  // The crate's newer source refuses the first three. Its version 0.2.0 treats a wrong type as a missing field.
  ["a type", "INVALID_PATH", "memory_write", { key: "x", content: "y", tags: "ops" }],
  ["a type", "INVALID_PATH", "memory_search", { query: "x", limit: -1 }],
  ["an unknown field", "INVALID_PATH", "memory_write", { key: "x", content: "y", kind: "daily" }],
  ["an unknown field", "INVALID_PATH", "memory_update", { key: "there", content: "y", target: "daily" }],
  ["a tag that forges", "INVALID_PATH", "memory_write", { key: "x", content: "y", tags: ["a|b"] }],
  ["a tag that forges", "INVALID_PATH", "memory_write", { key: "x", content: "y", tags: ["x --> y"] }],
  ["a tag that forges", "INVALID_PATH", "memory_update", { key: "there", content: "y", tags: ["a\u2028b"] }],
  ["a key of several lines", "MEMORY_INVALID_KEY", "memory_write", { key: "a\u2028b", content: "y" }],
  ["a key with controls", "MEMORY_INVALID_KEY", "memory_write", { key: "a\u001b[31mb", content: "y" }],
  ["a bound", "MEMORY_INVALID_KEY", "memory_write", { key: "k".repeat(201), content: "y" }],
  ["a bound", "INVALID_PATH", "memory_write", { key: "x", content: "y".repeat(65_537) }],
  ["a bound", "INVALID_PATH", "memory_write", { key: "x", content: "y", tags: Array(33).fill("a") }],
  ["a bound", "INVALID_PATH", "memory_write", { key: "x", content: "y", tags: ["a".repeat(101)] }],
];

/** Calls that look wrong, but that both sides accept. */
const forgiven: readonly Call[] = [
  ["memory_write", { key: "x", content: "y", tags: null, target: null }],
  ["memory_update", { key: "there", content: "y", tags: [] }],
  ["memory_search", { query: " \u3000", limit: 0 }],
  ["memory_search", { query: "", limit: 101 }],
  ["memory_search", { query: "hello", limit: null, tags: null }],
];

/** A journal for each side, with the same entry. */
async function bothSides(stage: Stage): Promise<{ agentool: Ask; memcell: Ask }> {
  const [theirs, ours] = [stage.fresh(), stage.fresh()];
  for (const { agentool } of [theirs, ours]) {
    dataOf(await agentool("memory_write", { key: "there", content: "hello", tags: ["a"] }));
  }
  return { agentool: theirs.agentool, memcell: ours.memcell };
}

test("what fails on both sides has the same code", async (context) => {
  const { agentool, memcell } = await bothSides(stageFor(context));
  for (const [code, tool, params] of alike)
    expect({ params, theirs: await agentool(tool, params), ours: await memcell(tool, params) }).toEqual({
      params,
      theirs: { code },
      ours: { code },
    });
});

test("what only memcell refuses is done by agentool", async (context) => {
  for (const [reason, code, tool, params] of stricter) {
    const { agentool, memcell } = await bothSides(stageFor(context));
    expect({ reason, params, answer: await agentool(tool, params) }).toMatchObject({ answer: { success: true } });
    expect({ reason, params, answer: await memcell(tool, params) }).toEqual({ reason, params, answer: { code } });
  }
});

test("what looks wrong and is forgiven has the same answer on both sides", async (context) => {
  for (const [tool, params] of forgiven) {
    const { agentool, memcell } = await bothSides(stageFor(context));
    const expected = await agentool(tool, params);
    expect(expected).toMatchObject({ success: true });
    expect({ params, answer: await memcell(tool, params) }).toEqual({ params, answer: expected });
  }
});

test("the peer answers what its README shows", async (context) => {
  const { program } = stageFor(context);
  using folder = temporaryFolder();
  await using host = new LineHost({ command: program, args: [folder.path, "journal"] });
  const shown = blocksIn(textOf("test/agentool/README.md")).find(({ text }) => text.startsWith("→"))?.text ?? "";
  const [, sent = "", answer = ""] = /^→ (.*)\n← (.*)$/.exec(shown) ?? [];
  expect(await host.ask(JSON.parse(sent) as object)).toEqual(JSON.parse(answer));
});

test("a missing folder is an empty memory, and reading does not create it", async (context) => {
  const { agentool, memcell, journal } = stageFor(context).fresh();
  for (const ask of [agentool, memcell]) {
    expect(await ask("memory_read", { key: "x" })).toEqual({ code: "MEMORY_KEY_NOT_FOUND" });
    expect(await ask("memory_update", { key: "x", content: "y" })).toEqual({ code: "MEMORY_KEY_NOT_FOUND" });
    expect(await ask("memory_search", { query: "" })).toEqual({ success: true, data: { results: [] } });
  }
  expect(existsSync(journal)).toBe(false);
});
