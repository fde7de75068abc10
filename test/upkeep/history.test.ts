/** What the owner sees of the history, by the calls and operations of a runtime. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, memoryStore } from "memcell";
import type { CallContext, Runtime } from "memcell";
import { expect, test } from "vitest";

import { openAuditedStage, upsert } from "../audit/audited-stage.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { userFolder } from "../support/user-files.ts";

const alice = { userId: "alice" };
const said: CallContext = { ...alice, origin: { class: "direct_user", run: "run-1", turn: "1" }, callId: "call-1" };
const web: CallContext = { ...alice, origin: { class: "tool_internal", source: "https://example.com/" } };

/** A runtime with all plugins and nothing on a disk. */
const inMemory = (): Promise<Runtime> =>
  createRuntime({
    store: memoryStore(),
    plugins: shippedNames(),
    policy: trustingPolicy({ active: "tool_external" }),
    threadsMax: 1,
    clock: () => 1_700_000_000_000,
  });

test("each call's version names its tool, its plugin, its id and what the program said of its origin", async () => {
  await using runtime = await inMemory();
  await runtime.call("UpdateUserMemory", upsert("editor"), said);
  await runtime.call("memory_write", { key: "k", content: "x" }, { ...web, exposedTo: ["tool_external"] });
  const created = await runtime.call("memory", { command: "create", path: "/memories/a.md", content: "x" }, alice);
  expect(created).toMatchObject({ ok: true });
  const history = await runtime.upkeep.history(alice);
  expect(history).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        scope: "memory",
        path: "editor.md",
        seq: 1,
        at: new Date(1_700_000_000_000),
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
  const ofEntry = await runtime.upkeep.history(alice, { scope: "memory", path: "editor.md" });
  expect(ofEntry.map(({ path }) => path)).toEqual(["editor.md"]);
  await expect(runtime.upkeep.history(alice, { scope: "none" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await runtime.upkeep.history({ userId: "bob" })).toEqual([]);
});

test("trust does not rise by deletion and restore, by export and import, or by a later call of the user", async () => {
  await using runtime = await inMemory();
  const trustNow = async (path: string): Promise<string | undefined> =>
    (await runtime.upkeep.history(alice, { scope: "memory", path }))[0]?.trust;
  await runtime.call("UpdateUserMemory", upsert("a"), { ...alice, origin: { class: "tool_external" } });
  await runtime.call("UpdateUserMemory", upsert("a", "edited"), said);
  expect(await trustNow("a.md")).toBe("tool_external");
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, said);
  await runtime.upkeep.restore(alice, "a");
  expect(await trustNow("a.md")).toBe("tool_external");
  const { files } = await runtime.upkeep.export(alice);
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, said);
  await runtime.upkeep.purge(alice, { beforeEpochMs: Number.MAX_SAFE_INTEGER });
  await runtime.upkeep.import(alice, files);
  expect(await trustNow("a.md")).toBe("tool_external");
  // The export says how far the file is trusted.
  await runtime.upkeep.import({ userId: "bob" }, files);
  const [ofBob] = await runtime.upkeep.history({ userId: "bob" }, { scope: "memory", path: "a.md" });
  expect(ofBob).toMatchObject({ kind: "imported", class: "owner_edit", trust: "tool_external" });
});

test("the audit log has the end of the history after each change, so that no version can be changed unnoticed", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  await runtime.call("UpdateUserMemory", upsert("a"), { ...said, callId: "first" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, { ...said, callId: "second" });
  await runtime.call("ReadUserMemory", { name: "a" }, { ...alice, callId: "read" });
  await runtime.upkeep.purge({ ...alice, callId: "purge" }, { beforeEpochMs: Number.MAX_SAFE_INTEGER });
  const ends = ["first", "second", "purge"].map((id) =>
    stage.records().flatMap((record) => ("history" in record && record.callId === id ? (record.history ?? []) : [])),
  );
  expect(ends).toEqual(
    [1, 2, 3].map((seq) => [{ store: null, seq, hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string }]),
  );
  expect(stage.recordsOf("call", "read")[0]).not.toHaveProperty("history");
  await runtime.close();
  const lines = readFileSync(
    join(userFolder(stage.dataDir, "alice"), ".memcell/history/versions-000000000001.jsonl"),
    "utf8",
  );
  const prevs = lines
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { prev: string }).prev);
  expect(prevs.slice(1)).toEqual(ends.slice(0, 2).map(([end]) => end?.hash));
});

test("emptying the trash leaves nothing of an entry, not even its line in former states of the index", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  const secret = { ...upsert("secret", "a secret body"), description: "a secret description" };
  await runtime.call("UpdateUserMemory", upsert("first"), said);
  await runtime.call("UpdateUserMemory", secret, said);
  await runtime.call("UpdateUserMemory", upsert("second", "an honest body"), said);
  await runtime.call("UpdateUserMemory", { action: "delete", name: "secret" }, said);
  await runtime.upkeep.purge(alice, { beforeEpochMs: Number.MAX_SAFE_INTEGER });
  await runtime.close();
  const own = join(userFolder(stage.dataDir, "alice"), ".memcell");
  const files = readdirSync(own, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const all = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join();
  expect(all).not.toContain("a secret");
  expect(all).toContain("an honest body");
});

test("an edit by hand has a version of its own", async () => {
  await using stage = await openAuditedStage();
  await stage.runtime.call("UpdateUserMemory", upsert("a"), web);
  const file = join(userFolder(stage.dataDir, "alice"), "memory/a.md");
  writeFileSync(file, `${readFileSync(file, "utf8")} by hand`);
  await stage.runtime.call("UpdateUserMemory", upsert("a", "next"), said);
  const versions = await stage.runtime.upkeep.history(alice, { scope: "memory", path: "a.md" });
  expect(versions).toMatchObject([
    { seq: 3, class: "direct_user", trust: "tool_internal" },
    { seq: 2, kind: "edited", class: "owner_edit", trust: "tool_internal", tool: null, callId: null },
    { seq: 1, class: "tool_internal" },
  ]);
});
