/** What the owner sees of the history, by the calls and operations of a runtime. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { CallContext } from "memcell";
import { expect, test } from "vitest";

import { alice, bob, engines, honest, openUpkeep, remove, upsert } from "./upkeep-stage.ts";

const said: CallContext = { ...alice, origin: { class: "direct_user", run: "run-1", turn: "1" }, callId: "call-1" };
const web: CallContext = { ...alice, origin: { class: "tool_internal", source: "https://example.com/" } };
const all = { beforeEpochMs: Number.MAX_SAFE_INTEGER };

test.for(engines)(
  "%s: each call's version names its tool, its plugin, its id and what the program said",
  async (engine) => {
    await using at = await openUpkeep(engine);
    await at.write({ ctx: said, input: upsert("editor", "x") });
    await at.runtime.call("memory_write", { key: "k", content: "x" }, { ...web, exposedTo: ["tool_external"] });
    await at.write({ ctx: alice, input: { command: "create", path: "/memories/a.md", content: "x" } });
    expect(await at.upkeep.history(alice)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          scope: "memory",
          path: "editor.md",
          seq: 1,
          at: new Date(at.atMs),
          before: null,
          tool: "UpdateUserMemory",
          plugin: "user-memory",
          principal: "alice",
          class: "direct_user",
          trust: "direct_user",
          run: "run-1",
          turn: "1",
          source: null,
          callId: "call-1",
        }),
        expect.objectContaining({
          scope: "journal",
          class: "tool_internal",
          trust: "tool_external",
          source: "https://example.com/",
        }),
        expect.objectContaining({ scope: "store", plugin: "stores", class: "unstated", trust: "unstated" }),
      ]),
    );
    const ofEntry = await at.upkeep.history(alice, { scope: "memory", path: "editor.md" });
    expect(ofEntry.map(({ path }) => path)).toEqual(["editor.md"]);
    await expect(at.upkeep.history(alice, { scope: "none" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(await at.upkeep.history(bob)).toEqual([]);
  },
);

test("the audit log has the end of the history after each change, so that no version can be changed unnoticed", async () => {
  await using at = await openUpkeep();
  await at.write({ ctx: { ...said, callId: "first" }, input: upsert("a", "x") });
  await at.write({ ctx: { ...said, callId: "second" }, input: remove("a") });
  await at.runtime.call("ReadUserMemory", { name: "a" }, { ...alice, callId: "read" });
  await at.upkeep.purge({ ...alice, callId: "purge" }, all);
  const endsOf = (id: string) =>
    at.records().flatMap((record) => ("history" in record && record.callId === id ? (record.history ?? []) : []));
  const ends = ["first", "second", "purge"].map(endsOf);
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
  expect(ends).toEqual([1, 2, 3].map((seq) => [{ store: null, seq, hash }]));
  expect(endsOf("read")).toEqual([]);
  await at.runtime.close();
  const versions = readFileSync(join(at.home(), ".memcell/history/versions-000000000001.jsonl"), "utf8");
  const prevs = versions
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { prev: string }).prev);
  expect(prevs.slice(1)).toEqual(ends.slice(0, 2).map(([end]) => end?.hash));
});

test("emptying the trash leaves nothing of an entry, not even its line in former states of the index", async () => {
  await using at = await openUpkeep();
  for (const input of [
    upsert("first", "x"),
    upsert("secret", "a secret body", "a secret description"),
    upsert("second", "an honest body"),
    remove("secret"),
  ]) {
    await at.write({ ctx: honest, input });
  }
  await at.upkeep.purge(alice, all);
  await at.runtime.close();
  const own = readdirSync(join(at.home(), ".memcell"), { recursive: true, withFileTypes: true });
  const files = own.filter((each) => each.isFile());
  const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join();
  expect(texts).not.toContain("a secret");
  expect(texts).toContain("an honest body");
});
