/** What an undo takes back, what it names, and what it leaves. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";
import { poisonedWrites } from "./poisoned-writes.ts";
import { alice, honest, liveFiles, openUndoStage, poisoned, remove, upsert, writeTwins } from "./undo-stage.ts";

const run = { run: "poisoned" };

test.for(["files", "memory"] as const)("a run's effects are gone, byte for byte, in the engine %s", async (engine) => {
  await using stage = await openUndoStage(engine);
  await using twin = await openUndoStage(engine);
  await writeTwins(stage, twin, poisonedWrites(60));
  expect(await liveFiles(stage)).not.toEqual(await liveFiles(twin));
  const plan = await stage.runtime.upkeep.planUndo(alice, run);
  expect(plan.restored).toHaveLength(12);
  expect(plan).toMatchObject({
    trashed: ["memory/evil-1.md", "memory/evil-2.md"],
    derived: ["memory/MEMORY.md"],
    builtOn: [{ path: "memory/shared-1.md" }, { path: "memory/shared-2.md" }],
    left: [],
  });
  expect(await stage.runtime.upkeep.undo(alice, run)).toEqual(plan);
  expect(await liveFiles(stage)).toEqual(await liveFiles(twin));
  const again = await stage.runtime.upkeep.undo(alice, run);
  expect(again).toEqual({ restored: [], trashed: [], derived: [], builtOn: plan.builtOn, left: [], waiting: [] });
});

test("undone versions belong to no run, and are trusted as what they put back, never more", async () => {
  await using stage = await openUndoStage("memory");
  const { upkeep } = stage.runtime;
  const web = { ...alice, origin: { class: "tool_external", run: "earlier" } } as const;
  await stage.write({ ctx: honest, input: upsert("a", "mine") }, { ctx: web, input: upsert("b", "from a page") });
  await stage.write({ ctx: poisoned, input: upsert("a", "evil") }, { ctx: poisoned, input: upsert("b", "evil") });
  await stage.write({ ctx: poisoned, input: upsert("c", "evil") });
  // The program can even say that the undo is of that run.
  await upkeep.undo({ ...poisoned, origin: { class: "owner_edit", run: "poisoned" } }, run);
  const all = await upkeep.history(alice, { scope: "memory" });
  const lastOf = (path: string) => all.find((version) => version.path.replace(/\.\d{8}T\d{9}Z/, "") === path);
  const undone = { kind: "undone", tool: "undo", plugin: null, class: "owner_edit" };
  expect(lastOf("a.md")).toMatchObject({ ...undone, trust: "direct_user" });
  expect(lastOf("b.md")).toMatchObject({ ...undone, trust: "tool_external" });
  expect(lastOf("trash/c.md")).toMatchObject({ ...undone, from: "c.md", trust: "untrusted_document" });
  expect(await upkeep.undo(alice, run)).toMatchObject({ restored: [], trashed: [], left: [] });
});

test("of two runs on one file, each can be undone after the other, and a time undoes both", async () => {
  await using stage = await openUndoStage("memory");
  const { upkeep } = stage.runtime;
  const other = { ...alice, origin: { class: "tool_external", run: "other" } } as const;
  const body = async (): Promise<unknown> =>
    (await stage.runtime.call("ReadUserMemory", { name: "a" }, alice)) as unknown;
  await stage.write({ ctx: honest, input: upsert("a", "first") });
  const before = await liveFiles(stage);
  stage.atMs += 1_000;
  const since = new Date(stage.atMs);
  await stage.write({ ctx: other, input: upsert("a", "second") }, { ctx: poisoned, input: upsert("a", "third") });
  expect(await upkeep.undo(alice, { run: "other" })).toMatchObject({
    restored: [],
    builtOn: [{ path: "memory/a.md", versions: [3] }],
  });
  expect(await body()).toMatchObject({ data: { body: "third" } });
  expect(await upkeep.undo(alice, run)).toMatchObject({ restored: ["memory/a.md"] });
  expect(await body()).toMatchObject({ data: { body: "second" } });
  expect(await upkeep.undo(alice, { run: "other" })).toMatchObject({ restored: ["memory/a.md"] });
  expect(await liveFiles(stage)).toEqual(before);
  await stage.write({ ctx: other, input: upsert("a", "fourth") });
  expect(await upkeep.undo(alice, { since })).toMatchObject({ restored: ["memory/a.md"] });
  expect(await liveFiles(stage)).toEqual(before);
  expect(await upkeep.undo(alice, { since })).toMatchObject({ restored: [], trashed: [] });
});

test("a source is undone in every family, in the folder and in the own store", async () => {
  await using stage = await openUndoStage("files");
  const { runtime } = stage;
  const { upkeep } = runtime;
  const write = async (ctx: CallContext, text: string): Promise<void> => {
    await stage.write({ ctx, input: upsert("a", text) });
    const events = [{ type: "user_message", timestamp: "2026-01-01T10:00:00Z", data: JSON.stringify({ text }) }];
    const ids = { agentId: "agent", runId: ctx.origin?.run ?? "" };
    await runtime.callAsHost("run-history/AppendRunEvents", { ...ids, events }, ctx);
    expect(await runtime.call("memory_write", { key: text, content: text }, ctx)).toMatchObject({ ok: true });
    const note = { command: "create", path: `/memories/${text}.md`, content: text };
    expect(await runtime.call("memory", note, ctx)).toMatchObject({ ok: true });
  };
  await write(honest, "honest");
  const live = await liveFiles(stage);
  stage.atMs += 1_000;
  await write(poisoned, "zinnia");
  const renamed = { command: "rename", path: "/memories/honest.md", new_str: "/memories/moved.md" };
  expect(await runtime.call("memory", renamed, poisoned)).toMatchObject({ ok: true });
  const undone = await upkeep.undo(alice, { source: "https://example.com/" });
  expect(undone).toMatchObject({ builtOn: [], left: [] });
  expect(withoutSearchIndex(await liveFiles(stage))).toEqual(withoutSearchIndex(live));
  expect(JSON.stringify(await liveFiles(stage))).not.toContain("zinnia");
  expect(await upkeep.inspect(alice)).toEqual([]);
  const found = async (query: string): Promise<unknown> =>
    await runtime.call("memory", { command: "search", query }, alice);
  expect(JSON.stringify(await found("zinnia"))).not.toContain("zinnia.md");
  expect(JSON.stringify(await found("honest"))).toContain("honest.md");
  await expect(upkeep.undo(alice, { source: "elsewhere" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
});

test("calls during an undo lose nothing, and the undo loses nothing of them", async () => {
  await using stage = await openUndoStage("files", { plugins: ["user-memory"], threadsMax: 2 });
  const { upkeep } = stage.runtime;
  await stage.write({ ctx: honest, input: upsert("a", "mine") }, { ctx: poisoned, input: upsert("a", "evil") });
  await stage.write({ ctx: poisoned, input: upsert("made", "evil") });
  const names = Array.from({ length: 30 }, (_, at) => `during-${at}`);
  // Two agents, each with its next call as soon as it has an answer: the undo's own turns are between theirs.
  const agents = [0, 1].map((agent) => {
    const writes = names.filter((_, at) => at % 2 === agent);
    return stage.write(...writes.map((name) => ({ ctx: honest, input: upsert(name, `honest ${name}`) })));
  });
  const [undone] = await Promise.all([upkeep.undo(alice, run), ...agents]);
  expect(undone).toMatchObject({ restored: ["memory/a.md"], trashed: ["memory/made.md"] });
  const files = await liveFiles(stage);
  const lines = ["a", ...names].map((name) => `- [${name}](${name}.md) \u2014 says `);
  const index = Buffer.from(files["memory/MEMORY.md"] ?? "", "latin1").toString();
  expect(lines.filter((line) => !index.includes(line))).toEqual([]);
  expect(index.split("\n")).toHaveLength(lines.length + 1);
  expect(Object.keys(files)).toHaveLength(lines.length + 1);
  expect(JSON.stringify(files)).not.toContain("evil");
});

test("a run is undone in a mounted folder, too, and only there if it has written only there", async () => {
  using mounted = temporaryFolder();
  const mounts = [{ userId: "alice", scope: "journal", dir: mounted.path }];
  await using stage = await openUndoStage("files", { mounts });
  const { runtime } = stage;
  await stage.write({ ctx: honest, input: upsert("a", "mine") });
  const write = async (ctx: CallContext, content: string): Promise<void> =>
    expect(await runtime.call("memory_write", { key: content, content }, ctx)).toMatchObject({ ok: true });
  await write(honest, "honest");
  const before = await liveFiles(stage);
  await write(poisoned, "poison");
  const { restored } = await runtime.upkeep.undo(alice, run);
  expect(restored).toEqual([expect.stringMatching(/^journal\/\d{4}\/\d\d\/\d\d\.md$/)]);
  expect(await liveFiles(stage)).toEqual(before);
  const scopes = (await runtime.upkeep.history(alice))
    .filter(({ kind }) => kind === "undone")
    .map(({ scope }) => scope);
  expect(scopes).toEqual(["journal"]);
});

/** It has the times of files. */
const withoutSearchIndex = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith("store/_.index/")));

test("what a person has edited, removed or put in the way by hand since stays, and is named", async () => {
  await using stage = await openUndoStage("files");
  const { upkeep } = stage.runtime;
  const memory = join(userFolder(stage.dataDir, "alice"), "memory");
  for (const name of ["edited", "removed", "deleted", "remade"])
    await stage.write({ ctx: honest, input: upsert(name, "mine") });
  for (const name of ["edited", "removed"]) await stage.write({ ctx: poisoned, input: upsert(name, "evil") });
  for (const name of ["deleted", "remade"]) await stage.write({ ctx: poisoned, input: remove(name) });
  const text = `${readFileSync(join(memory, "edited.md"), "utf8")} and by hand`;
  writeFileSync(join(memory, "edited.md"), text);
  rmSync(join(memory, "removed.md"));
  writeFileSync(join(memory, "remade.md"), text);
  writeFileSync(join(memory, "Deleted.md"), text);
  expect(await upkeep.undo(alice, run)).toMatchObject({
    restored: [],
    trashed: [],
    builtOn: [
      { path: "memory/edited.md", versions: [] },
      { path: "memory/remade.md", versions: [] },
    ],
    left: [{ path: "memory/deleted.md", reason: '"Deleted.md" is in its place' }],
  });
  expect(readFileSync(join(memory, "edited.md"), "utf8")).toBe(text);
  expect(readFileSync(join(memory, "remade.md"), "utf8")).toBe(text);
  rmSync(join(memory, "Deleted.md"));
  expect(await upkeep.undo(alice, run)).toMatchObject({ restored: ["memory/deleted.md"], left: [] });
});

test("what is no longer kept is named and stays, and so is a scope without a plugin", async () => {
  await using stage = await openUndoStage("files", { plugins: ["user-memory"] });
  await stage.write({ ctx: honest, input: upsert("a", "mine") }, { ctx: poisoned, input: upsert("a", "evil") });
  await stage.runtime.close();
  const history = join(userFolder(stage.dataDir, "alice"), ".memcell/history");
  for (const name of readdirSync(history)) if (name.startsWith("contents")) rmSync(join(history, name));
  await using next = await createRuntime({ dataDir: stage.dataDir, plugins: ["user-memory"], threadsMax: 1 });
  const left = [{ path: "memory/a.md", reason: "the content that it had before is no longer kept" }];
  expect(await next.upkeep.undo(alice, run)).toMatchObject({ restored: [], trashed: [], left });
  const refused = next.upkeep.restoreVersion(alice, "a", { version: 1 });
  const message = 'Cannot restore a version of "a.md": the content of version 1 is no longer kept';
  await expect(refused).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND", message });
  await next.close();
  await using journal = await createRuntime({ dataDir: stage.dataDir, plugins: ["journal"], threadsMax: 1 });
  const unloaded = [{ path: "memory", reason: "no loaded plugin has this scope" }];
  expect(await journal.upkeep.undo(alice, run)).toMatchObject({ restored: [], trashed: [], left: unloaded });
});

test("an undo of nothing, or of two things at once, is an error", async () => {
  await using stage = await openUndoStage("memory");
  const { upkeep } = stage.runtime;
  for (const wrong of [{}, { run: "" }, { run: "a", source: "b" }, { since: new Date("none") }]) {
    expect(() => upkeep.undo(alice, wrong)).toThrow(TypeError);
  }
  await expect(upkeep.undo(alice, { run: "none" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  expect(await upkeep.undo(alice, { since: new Date(0) })).toMatchObject({ restored: [], trashed: [] });
});
