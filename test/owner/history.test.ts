/** What the owner sees of the history, by the calls and operations of a runtime: versions, their differences, and those put back. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { CallContext } from "memcell";
import { expect, test } from "vitest";

import { lastSegment } from "../stage/journal.ts";
import { alice, bob, engines, honest, liveFiles, openUpkeep, poisoned, remove, upsert } from "./upkeep-stage.ts";

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
  const lines = readFileSync(lastSegment(join(at.home(), ".memcell")), "utf8").split("\n");
  const prevs = lines
    .filter((line) => line.startsWith('{"seq":'))
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

test.for(engines)(
  "a version of a changed or removed entry comes back with its line, in the engine %s",
  async (engine) => {
    await using stage = await openUpkeep(engine);
    const { upkeep } = stage.runtime;
    for (const name of ["first", "a", "last"]) {
      stage.atMs += 1_000;
      await stage.write({ ctx: honest, input: upsert(name, `mine ${name}`) });
    }
    const before = await liveFiles(stage);
    await stage.write({ ctx: poisoned, input: upsert("a", "evil") });
    const restored = { scope: "memory", path: "a.md", seq: 2 };
    const restore = () => upkeep.restoreVersion(alice, "a", { version: 2 });
    expect(await restore()).toEqual({ ...restored, outcome: "replaced" });
    expect(await liveFiles(stage)).toEqual(before);
    expect(await restore()).toEqual({ ...restored, outcome: "unchanged" });
    await stage.write({ ctx: honest, input: remove("a") });
    expect(await restore()).toEqual({ ...restored, outcome: "created" });
    expect(await liveFiles(stage)).toEqual(before);
    const versions = await upkeep.history(alice, { scope: "memory", path: "a.md" });
    const facts = versions.map(({ seq, kind, trust, tool }) => [seq, kind, trust, tool]);
    expect(facts).toEqual([
      [7, "restored", "direct_user", "restoreVersion"],
      [6, undefined, "direct_user", "UpdateUserMemory"],
      [5, "restored", "direct_user", "restoreVersion"],
      [4, undefined, "untrusted_document", "UpdateUserMemory"],
      [2, undefined, "direct_user", "UpdateUserMemory"],
    ]);
  },
);

test("a poisoned version that is put back stays as untrusted as it was", async () => {
  await using stage = await openUpkeep("memory");
  const { upkeep } = stage.runtime;
  await stage.write({ ctx: poisoned, input: upsert("a", "evil") }, { ctx: honest, input: remove("a") });
  await upkeep.purge(alice, { beforeEpochMs: Number.MAX_SAFE_INTEGER });
  await stage.write({ ctx: poisoned, input: upsert("a", "worse") }, { ctx: honest, input: remove("a") });
  const [, last] = await upkeep.history(alice, { scope: "memory", path: "a.md" });
  await upkeep.restoreVersion(alice, "a", { version: last?.seq ?? 0 });
  const [now] = await upkeep.history(alice, { scope: "memory", path: "a.md" });
  expect(now).toMatchObject({ kind: "restored", trust: "untrusted_document" });
  // The first was purged, with its content.
  const purged = upkeep.restoreVersion(alice, "a", { version: 1 });
  await expect(purged).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  // Its owner can undo the run even so.
  expect(await upkeep.undo(alice, { run: "poisoned" })).toMatchObject({ trashed: ["memory/a.md"] });
});

test("a version of another number, a removal, a file in the trash, and a taken place are refused", async () => {
  await using stage = await openUpkeep("files");
  const { upkeep } = stage.runtime;
  await stage.write({ ctx: honest, input: upsert("a", "mine") }, { ctx: honest, input: remove("a") });
  const trashed = (await upkeep.history(alice)).find(({ path }) => path.startsWith("trash/"))?.path ?? "";
  const refusals = [
    ["a", 9, "ENTRY_NOT_FOUND"],
    ["none", 1, "ENTRY_NOT_FOUND"],
    ["a", 2, "ENTRY_NOT_FOUND"],
    [trashed, 2, "INPUT_INVALID"],
  ] as const;
  for (const [name, version, code] of refusals) {
    await expect(upkeep.restoreVersion(alice, name, { version })).rejects.toMatchObject({ code });
  }
  await stage.write({ ctx: honest, input: upsert("A", "another") });
  await expect(upkeep.restoreVersion(alice, "a", { version: 1 })).rejects.toMatchObject({ code: "NAME_CONFLICT" });
  await expect(upkeep.restoreVersion(alice, "a", { version: 1, scope: "none" })).rejects.toMatchObject({
    code: "ENTRY_NOT_FOUND",
  });
});

test("a name in several scopes needs the scope", async () => {
  await using stage = await openUpkeep("memory");
  const { runtime } = stage;
  await stage.write({ ctx: honest, input: upsert("a", "mine") });
  await stage.write({ ctx: honest, input: { command: "create", path: "/memories/a.md", content: "a note" } });
  const message = 'Cannot compare versions of "a.md": it can be any of memory/a.md, store/a.md; expected one of these';
  const compared = runtime.upkeep.diff(alice, "a.md", { from: 1 });
  await expect(compared).rejects.toMatchObject({ code: "INPUT_INVALID", message });
  expect(await runtime.upkeep.diff(alice, "a.md", { from: 1, scope: "store" })).toMatchObject({ lines: [] });
  await runtime.call("memory", { command: "delete", path: "/memories/a.md" }, honest);
  const restored = await runtime.upkeep.restoreVersion(alice, "a.md", { version: 1, scope: "store" });
  expect(restored).toMatchObject({ scope: "store", outcome: "created" });
  expect(await runtime.call("memory", { command: "view", path: "/memories/a.md" }, alice)).toMatchObject({ ok: true });
});

const changed = (lines: readonly string[] | null): string[] => (lines ?? []).filter((line) => /^[-+]/.test(line));

test("two versions differ by lines, from any to any, also with the present file and with none", async () => {
  await using stage = await openUpkeep("files", { plugins: ["user-memory"] });
  const { upkeep } = stage.runtime;
  await stage.write({ ctx: honest, input: upsert("a", "one\ntwo\nthree", "d") });
  await stage.write({ ctx: honest, input: upsert("a", "one\n2\nthree", "d") });
  const hunk = ["-two", "+2"];
  expect(changed((await upkeep.diff(alice, "a", { from: 1, to: 2 })).lines)).toEqual(hunk);
  expect(changed((await upkeep.diff(alice, "a", { from: "before", to: 2 })).lines)).toEqual(hunk);
  expect(changed((await upkeep.diff(alice, "a", { from: 2, to: 1 })).lines)).toEqual(["-2", "+two"]);
  const created = await upkeep.diff(alice, "a", { from: "before", to: 1 });
  expect(created).toMatchObject({ before: null, after: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  expect(created.lines?.every((line) => /^[@+\\]/.test(line))).toBe(true);
  const file = join(stage.home(), "memory/a.md");
  writeFileSync(file, readFileSync(file, "utf8").replace("three", "3"));
  expect(changed((await upkeep.diff(alice, "a", { from: 2 })).lines)).toEqual(["-three", "+3"]);
  writeFileSync(file, Uint8Array.of(0xff));
  expect(await upkeep.diff(alice, "a", { from: 2 })).toMatchObject({ lines: null });
});
