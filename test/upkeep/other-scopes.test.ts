/** Upkeep of scopes besides `memory`: another family's files are reported and never taken for entries. */
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, fileStore, memoryStore } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const early = "20200102T030405678Z";
const late = "20260102T030405678Z";
const files = {
  "memory/MEMORY.md": "",
  [`memory/trash/a.${early}.md`]: "1",
  [`notes/trash/a.${late}.md`]: "22",
  [`notes/trash/old.${early}.txt`]: "333",
  "notes/a.md": "kept",
};

test("lists the trash of all scopes, and restores nothing that no loaded plugin keeps", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: files });
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const listed = await runtime.upkeep.listTrash(alice);
  expect(listed.map(({ scope, name, path }) => ({ scope, name, path }))).toEqual([
    { scope: "notes", name: `a.${late}.md`, path: "a.md" },
    { scope: "notes", name: `old.${early}.txt`, path: "old.txt" },
    { scope: "memory", name: `a.${early}.md`, path: "a.md" },
  ]);
  const message = `Cannot restore "old.${early}.txt": no loaded plugin has the scope "notes"`;
  const restored = runtime.upkeep.restore(alice, `old.${early}.txt`);
  await expect(restored).rejects.toMatchObject({ code: "TOOL_UNKNOWN", message });
  // By name alone, the one in notes would be the latest.
  expect(await runtime.upkeep.restore(alice, "a")).toMatchObject({ scope: "memory", name: `a.${early}.md` });
  const { "notes/a.md": kept, [`notes/trash/a.${late}.md`]: trashed } = readUserFiles(folder.path, "alice");
  expect({ kept, trashed }).toEqual({ kept: "kept", trashed: "22" });
});

test("purge() empties the trash of all scopes, and nothing else", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: files });
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1, plugins: ["journal"] });
  const purged = await runtime.upkeep.purge(alice, { beforeEpochMs: Date.UTC(2025, 0, 1) });
  expect(purged.map(({ scope, name }) => `${scope} ${name}`)).toEqual([
    `notes old.${early}.txt`,
    `memory a.${early}.md`,
  ]);
  expect(Object.keys(readUserFiles(folder.path, "alice"))).toEqual([
    "memory/MEMORY.md",
    "notes/a.md",
    `notes/trash/a.${late}.md`,
  ]);
});

test("a scope that is a link is not listed or purged, and the doctor reports it", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/MEMORY.md": "" }, bob: { [`notes/trash/b.${early}.md`]: "b" } });
  symlinkSync(join(userFolder(folder.path, "bob"), "notes"), join(userFolder(folder.path, "alice"), "notes"));
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  expect(await runtime.upkeep.listTrash(alice)).toEqual([]);
  expect(await runtime.upkeep.purge(alice, { beforeEpochMs: Date.now() })).toEqual([]);
  expect((await runtime.upkeep.export(alice)).files).toEqual([
    { scope: "memory", path: "MEMORY.md", content: Buffer.alloc(0) },
  ]);
  expect(readUserFiles(folder.path, "bob")).toEqual({ [`notes/trash/b.${early}.md`]: "b" });
  expect(await runtime.upkeep.inspect(alice)).toMatchObject([{ problem: "not-a-plain-file", path: "notes" }]);
});

test("without the plugin that judges entries, the doctor finds and repairs what the store can, in every scope", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1, plugins: ["journal"] });
  const write = { key: "a", content: "b" };
  expect(await runtime.call("memory_write", write, alice)).toMatchObject({ ok: true });
  const own = userFolder(folder.path, "alice");
  rmSync(join(own, ".memcell", "owner"));
  mkdirSync(join(own, "memory"));
  // Only user-memory finds an entry without an index.
  writeUserFiles(folder.path, { alice: { "memory/b.md": "no entry" } });
  symlinkSync("/etc/hostname", join(own, "journal", "link.md"));
  const linked = { problem: "not-a-plain-file", path: "journal/link.md", remedy: null };
  const unowned = { problem: "owner-missing", path: ".memcell/owner" };
  const unjudged = { problem: "not-inspected", path: "memory", remedy: null };
  const found = await runtime.upkeep.inspect(alice);
  expect(found).toMatchObject([linked, unowned, unjudged]);
  expect(await runtime.upkeep.mend(alice)).toMatchObject([unowned]);
  expect(await runtime.upkeep.inspect(alice)).toMatchObject([linked, unjudged]);
  expect(await runtime.upkeep.mend(alice)).toEqual([]);
});

const message = (plugin: string): unknown =>
  expect.stringMatching(
    new RegExp(`^no loaded plugin has this scope, so nothing .* say. The plugin "${plugin}" has it but is not loaded`),
  );

test.for(["fileStore", "memoryStore"] as const)(
  "a scope whose plugin is not loaded is never passed over in silence, in a %s",
  async (kind) => {
    using folder = temporaryFolder();
    const store = kind === "fileStore" ? fileStore({ dir: folder.path }) : memoryStore();
    {
      await using all = await createRuntime({ store, plugins: ["journal", "stores"], threadsMax: 1 });
      await all.call("memory_write", { key: "k", content: "c" }, alice);
      await all.call("memory", { command: "create", path: "/memories/note", content: "x" }, alice);
    }
    await using runtime = await createRuntime({ store, threadsMax: 1 });
    const unjudged = [
      { problem: "not-inspected", path: "journal", message: message("journal"), remedy: null },
      { problem: "not-inspected", path: "store", message: message("stores"), remedy: null },
    ];
    expect(await runtime.upkeep.inspect(alice)).toMatchObject(unjudged);
    expect(await runtime.upkeep.mend(alice)).toEqual([]);
    const { files: exported } = await runtime.upkeep.export(alice);
    expect(new Set(exported.map(({ scope }) => scope))).toEqual(new Set(["journal", "store"]));
    const plan = await runtime.upkeep.planImport({ userId: "bob" }, [
      ...exported,
      { scope: "memory", path: "MEMORY.md", content: Buffer.alloc(0) },
    ]);
    expect(plan.leftOut).toMatchObject([{ path: "journal" }, { path: "store" }]);
  },
);

test("an empty folder, a trash, and a mounted folder of another plugin's are told apart", async () => {
  using folder = temporaryFolder();
  const [dataDir, dir] = [join(folder.path, "data"), join(folder.path, "mounted")];
  writeUserFiles(dataDir, { alice: { [`journal/trash/a.${early}.md`]: "1", "memory/MEMORY.md": "" } });
  mkdirSync(join(userFolder(dataDir, "alice"), "runs"));
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  // Nothing there needs a judgement.
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  const hint = expect.stringContaining('The plugin "journal" has it but is not loaded') as string;
  const restored = runtime.upkeep.restore(alice, `a.${early}.md`);
  await expect(restored).rejects.toMatchObject({ code: "TOOL_UNKNOWN", hint });
  const mounts = [{ userId: "alice", scope: "journal", dir }];
  mkdirSync(dir);
  const mounted = createRuntime({ dataDir, mounts, threadsMax: 1 });
  await expect(mounted).rejects.toMatchObject({ code: "PLUGIN_REFUSED", hint });
});
