/** Upkeep of a plugin whose files only itself understands: exported, imported and restored byte for byte. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { MemoryFile, Runtime } from "memcell";
import { expect, test } from "vitest";

import { readZip } from "../stage/archive.ts";
import { asMemoryFiles, entryText, indexLine } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";

const alice = { userId: "alice" };
const bob = { userId: "bob" };
const start = Date.UTC(2026, 0, 1);
const stamp = "20250101T000000000Z";
const kept = {
  "memory/MEMORY.md": indexLine("a"),
  "memory/a.md": entryText("a"),
  "tally/deep/notes.txt": "\uFEFFany\r\nbytes",
  "tally/text.md": "no front matter",
  [`tally/trash/gone.${stamp}.md`]: "old",
};

async function withRuntime(work: (runtime: Runtime, dataDir: string, log: string) => Promise<void>) {
  using folder = temporaryFolder();
  const plugins = [shippedPlugin("user-memory"), testPlugin("tally")];
  const [dataDir, file] = [join(folder.path, "data"), join(folder.path, "audit.jsonl")];
  const options = { dataDir, plugins, policy: policyFor(plugins), threadsMax: 1, auditLog: { file } };
  await using runtime = await createRuntime({ ...options, clock: () => start });
  await work(runtime, dataDir, file);
}

async function throughZip(files: readonly MemoryFile[]): Promise<MemoryFile[]> {
  return await readZip(await zippedBytes(files));
}

test("all scopes are exported into one zip file and imported again, byte for byte", async () => {
  await withRuntime(async (runtime, dataDir, log) => {
    writeUserFiles(dataDir, { alice: kept });
    const { files, leftOut } = await runtime.upkeep.export(alice);
    expect(leftOut).toEqual([]);
    expect(files.map(({ scope, path }) => `${scope}/${path}`)).toEqual(Object.keys(kept).toSorted());
    const zipped = await throughZip(files);
    expect(zipped).toEqual(files);
    const plan = await runtime.upkeep.planImport(bob, zipped);
    expect(userFolderNames(dataDir)).toEqual(["alice"]);
    expect(plan).toMatchObject({
      created: ["memory/MEMORY.md", "memory/a.md", "tally/deep/notes.txt", "tally/text.md"],
      trashed: [`tally/trash/gone.${stamp}.md`],
      refused: [],
    });
    expect(await runtime.upkeep.import({ ...bob, callId: "import-1" }, zipped)).toEqual(plan);
    expect(readUserFiles(dataDir, "bob")).toEqual(kept);
    expect(await runtime.upkeep.inspect(bob)).toEqual([]);
    const again = { created: [], replaced: [], trashed: [], bytes: 0, skipped: Object.keys(kept).toSorted() };
    expect(await runtime.upkeep.import(bob, zipped)).toMatchObject(again);
    await runtime.close();
    const lines = readFileSync(log, "utf8").trim().split("\n");
    const staged = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ kind }) => kind === "staged");
    // The host's own change set is recorded like the guest's.
    expect(staged).toMatchObject([
      { callId: "import-1", userId: "bob", tool: "InspectMemory" },
      { callId: "import-1", userId: "bob", tool: null, writes: [{ scope: "tally" }, {}, {}] },
    ]);
  });
});

test("an error in one scope refuses the files of all", async () => {
  await withRuntime(async (runtime, dataDir) => {
    writeUserFiles(dataDir, { bob: { "tally/text.md": "mine" } });
    const good = [...asMemoryFiles({ "a.md": entryText("a") }), ...asMemoryFiles({ "new.md": "x" }, "tally")];
    for (const [file, code, path] of [
      [asMemoryFiles({ "text.md": "yours" }, "tally"), "NAME_CONFLICT", "tally/text.md"],
      [asMemoryFiles({ "../x": "" }, "tally"), "INPUT_INVALID", "tally/../x"],
      [asMemoryFiles({ "b.md": "---\nno entry" }), "ENTRY_UNREADABLE", "memory/b.md"],
    ] as const) {
      const files = [...good, ...file];
      expect((await runtime.upkeep.planImport(bob, files)).refused).toMatchObject([{ code, path }]);
      await expect(runtime.upkeep.import(bob, files)).rejects.toMatchObject({ code });
      expect(readUserFiles(dataDir, "bob")).toEqual({ "tally/text.md": "mine" });
    }
    const replacing = [...good, ...asMemoryFiles({ "text.md": "yours" }, "tally")];
    await runtime.upkeep.import(bob, replacing, { replace: true });
    expect(readUserFiles(dataDir, "bob")).toMatchObject({
      "tally/text.md": "yours",
      "tally/trash/text.20260101T000000000Z.md": "mine",
      "memory/a.md": entryText("a"),
    });
  });
});

test("leaves out and reports a scope of no loaded plugin, and refuses it if nothing else is imported", async () => {
  await withRuntime(async (runtime, dataDir) => {
    writeUserFiles(dataDir, { alice: { ...kept, "nobodys/b.md": "x" } });
    const { files } = await runtime.upkeep.export(alice);
    const told = { path: "nobodys", code: "TOOL_UNKNOWN", reason: "no loaded plugin has this scope" };
    const plan = await runtime.upkeep.planImport(bob, files);
    expect(plan).toMatchObject({ leftOut: [told], refused: [] });
    expect(await runtime.upkeep.import(bob, files)).toEqual(plan);
    expect(readUserFiles(dataDir, "bob")).toEqual(kept);
    const alone = files.filter(({ scope }) => scope === "nobodys");
    expect(await runtime.upkeep.planImport(bob, alone)).toMatchObject({ leftOut: [], refused: [told] });
    await expect(runtime.upkeep.import(bob, alone)).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  });
});

test("imports only the named scopes; for one without files, the error lists the others", async () => {
  await withRuntime(async (runtime, dataDir) => {
    writeUserFiles(dataDir, { alice: kept });
    const { files } = await runtime.upkeep.export(alice);
    await runtime.upkeep.import(bob, files, { scopes: ["memory"] });
    expect(Object.keys(readUserFiles(dataDir, "bob"))).toEqual(["memory/MEMORY.md", "memory/a.md"]);
    const message = 'Cannot import the memory: scope is "journal", allowed: memory, tally';
    const unknown = runtime.upkeep.planImport(bob, files, { scopes: ["journal"] });
    await expect(unknown).rejects.toMatchObject({ code: "INPUT_INVALID", message });
  });
});

test("restores a trashed file unchanged, unless its place is taken", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const trashed = { [`tally/trash/gone.${stamp}.md`]: "\u0000\r\nold", [`memory/trash/gone.${stamp}.md`]: "x" };
    writeUserFiles(dataDir, {
      alice: { ...trashed, "tally/Text.md": "there", [`tally/trash/text.${stamp}.md`]: "x" },
    });
    // The same name in two scopes.
    const name = `gone.${stamp}.md`;
    expect(await runtime.upkeep.restore(alice, name, { scope: "tally" })).toMatchObject({
      scope: "tally",
      path: "gone.md",
    });
    const files = readUserFiles(dataDir, "alice");
    expect(files).toMatchObject({ "tally/gone.md": "\u0000\r\nold", [`memory/trash/${name}`]: "x" });
    expect(files).not.toHaveProperty(`tally/trash/${name}`);
    const message = `Cannot restore "text.${stamp}.md": "Text.md" is in the place of "text.md"`;
    const taken = runtime.upkeep.restore(alice, `text.${stamp}.md`);
    await expect(taken).rejects.toMatchObject({ code: "NAME_CONFLICT", message });
    // Its plugin calls no file an entry.
    const entry = runtime.upkeep.restore(alice, "text", { scope: "tally" });
    await expect(entry).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    expect(readUserFiles(dataDir, "alice")).toEqual(files);
  });
});
