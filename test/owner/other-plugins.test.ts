/** Upkeep of files that a plugin can judge but not change, that only their own plugin understands, or that none does. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, fileStore, memoryStore } from "memcell";
import { describe, expect, test } from "vitest";

import { readZip } from "../stage/archive.ts";
import { asMemoryFiles, entryText, indexLine } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";
import { alice, bob, openUpkeep } from "./upkeep-stage.ts";

const stamp = "20250101T000000000Z";
const journal = { plugins: ["journal"] };
const block = (key: string): string => `### ${key}\n\ntext of ${key}\n\n`;

describe("the journal, which judges its files but cannot change them", () => {
  test("imports more files than one call can name, beside more unusable ones than it can report", async () => {
    await using at = await openUpkeep("files", journal);
    at.put(Object.fromEntries(Array.from({ length: 1_001 }, (_, each) => [`journal/f${each}.txt`, "x"])), "bob");
    const found = await at.upkeep.inspect(bob);
    expect(found).toHaveLength(1_001);
    const message = "1 more findings are not shown";
    expect(found.at(-1)).toEqual({ problem: "not-inspected", path: "journal", message, remedy: null });
    expect(await at.upkeep.mend(bob)).toEqual([]);
    const paths = Array.from({ length: 2_200 }, (_, each) => `${"d".repeat(240)}-${each}.md`);
    const files = asMemoryFiles(Object.fromEntries(paths.map((path) => [path, block("k")])), "journal");
    expect(await at.upkeep.import(bob, files)).toMatchObject({ leftOut: [], mended: [], refused: [] });
    expect(Object.keys(at.files("bob"))).toHaveLength(3_201);
  });

  test("keeps its findings when the store repairs what it can", async () => {
    await using at = await openUpkeep("files", journal);
    at.put({ "journal/x.txt": "x", "journal/MEMORY.md": block("b"), ".memcell/staged-7": "left behind" });
    const found = await at.upkeep.inspect(alice);
    const unused = { problem: "file-unused", path: "journal/x.txt", remedy: null };
    expect(found).toContainEqual(expect.objectContaining(unused));
    const mended = await at.upkeep.mend(alice);
    expect(mended).toEqual(found.filter(({ remedy }) => remedy !== null));
    expect(mended.map(({ problem }) => problem)).toContain("temporary-file");
    expect(existsSync(join(at.home(), ".memcell/staged-7"))).toBe(false);
    expect(await at.upkeep.inspect(alice)).toEqual(found.filter(({ remedy }) => remedy === null));
  });
});

describe("a plugin whose files only itself understands", () => {
  const plugins = [shippedPlugin("user-memory"), testPlugin("tally")];
  const open = () => openUpkeep("files", { plugins, policy: policyFor(plugins) });
  const kept = {
    "memory/MEMORY.md": indexLine("a"),
    "memory/a.md": entryText("a"),
    "tally/deep/notes.txt": "\uFEFFany\r\nbytes",
    "tally/text.md": "no front matter",
    [`tally/trash/gone.${stamp}.md`]: "old",
  };

  test("has its scope in the same zip file and the same import, byte for byte", async () => {
    await using at = await open();
    at.put(kept);
    const { files } = await at.upkeep.export(alice);
    expect(files.map(({ scope, path }) => `${scope}/${path}`)).toEqual(Object.keys(kept).toSorted());
    const zipped = await readZip(await zippedBytes(files));
    expect(zipped).toEqual(files);
    expect(await at.upkeep.import({ ...bob, callId: "import-1" }, zipped)).toMatchObject({
      created: ["memory/MEMORY.md", "memory/a.md", "tally/deep/notes.txt", "tally/text.md"],
      trashed: [`tally/trash/gone.${stamp}.md`],
      refused: [],
    });
    expect(at.files("bob")).toEqual(kept);
    expect(await at.upkeep.inspect(bob)).toEqual([]);
    const again = { created: [], replaced: [], trashed: [], bytes: 0, skipped: Object.keys(kept).toSorted() };
    expect(await at.upkeep.import(bob, zipped)).toMatchObject(again);
    // Both are the host's own change sets, whether their plugin was asked or not.
    expect(at.records().filter(({ kind }) => kind === "staged")).toMatchObject([
      { callId: "import-1", userId: "bob", tool: null, writes: [{ scope: "memory" }, {}] },
      { callId: "import-1", userId: "bob", tool: null, writes: [{ scope: "tally" }, {}, {}] },
    ]);
    await at.upkeep.import({ userId: "carol" }, files, { scopes: ["memory"] });
    expect(Object.keys(at.files("carol"))).toEqual(["memory/MEMORY.md", "memory/a.md"]);
    const unknown = at.upkeep.planImport(bob, files, { scopes: ["journal"] });
    const message = 'Cannot import the memory: scope is "journal", allowed: memory, tally';
    await expect(unknown).rejects.toMatchObject({ code: "INPUT_INVALID", message });
  });

  test("has an error of its scope refuse the files of all, and its files replaced through the trash", async () => {
    await using at = await open();
    at.put({ "tally/text.md": "mine" }, "bob");
    const good = [...asMemoryFiles({ "a.md": entryText("a") }), ...asMemoryFiles({ "new.md": "x" }, "tally")];
    const files = [...good, ...asMemoryFiles({ "text.md": "yours" }, "tally")];
    await expect(at.upkeep.import(bob, files)).rejects.toMatchObject({ code: "NAME_CONFLICT" });
    expect(at.files("bob")).toEqual({ "tally/text.md": "mine" });
    await at.upkeep.import(bob, files, { replace: true });
    expect(at.files("bob")).toMatchObject({
      "tally/text.md": "yours",
      "tally/trash/text.20260101T000000000Z.md": "mine",
      "memory/a.md": entryText("a"),
    });
  });
});

const unjudged = (plugin: string, path: string) => {
  const message = new RegExp(
    `^no loaded plugin has this scope, so nothing .* say. The plugin "${plugin}" has it but is not loaded`,
  );
  return { problem: "not-inspected", path, message: expect.stringMatching(message) as string, remedy: null };
};

describe("a scope without a loaded plugin", () => {
  test.for(["fileStore", "memoryStore"] as const)("is never passed over in silence, in a %s", async (kind) => {
    using folder = temporaryFolder();
    const store = kind === "fileStore" ? fileStore({ dir: folder.path }) : memoryStore();
    {
      await using all = await createRuntime({ store, plugins: ["journal", "stores"], threadsMax: 1 });
      await all.call("memory_write", { key: "k", content: "c" }, alice);
      await all.call("memory", { command: "create", path: "/memories/note", content: "x" }, alice);
    }
    await using runtime = await createRuntime({ store, threadsMax: 1 });
    const { upkeep } = runtime;
    expect(await upkeep.inspect(alice)).toMatchObject([unjudged("journal", "journal"), unjudged("stores", "store")]);
    expect(await upkeep.mend(alice)).toEqual([]);
    const { files } = await upkeep.export(alice);
    expect(new Set(files.map(({ scope }) => scope))).toEqual(new Set(["journal", "store"]));
    const told = { path: "journal", code: "TOOL_UNKNOWN", reason: "no loaded plugin has this scope" };
    const plan = await upkeep.import(bob, [...files, ...asMemoryFiles({ "MEMORY.md": "" })]);
    expect(plan).toMatchObject({ created: ["memory/MEMORY.md"], leftOut: [told, { path: "store" }], refused: [] });
    const alone = files.filter(({ scope }) => scope === "journal");
    expect(await upkeep.planImport(bob, alone)).toMatchObject({ leftOut: [], refused: [told] });
    await expect(upkeep.import(bob, alone)).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  });

  test("is nothing to judge if it is empty or has only trash; a restore and a mount of it name the plugin", async () => {
    await using at = await openUpkeep("files", { plugins: ["user-memory"] });
    at.put({ [`journal/trash/a.${stamp}.md`]: "1", "memory/MEMORY.md": "" });
    mkdirSync(join(at.home(), "runs"));
    expect(await at.upkeep.inspect(alice)).toEqual([]);
    const hint = expect.stringContaining('The plugin "journal" has it but is not loaded') as string;
    const restored = at.upkeep.restore(alice, `a.${stamp}.md`);
    await expect(restored).rejects.toMatchObject({ code: "TOOL_UNKNOWN", hint });
    mkdirSync(at.place("mounted"));
    const mounts = [{ userId: "alice", scope: "journal", dir: at.place("mounted") }];
    const mounted = createRuntime({ dataDir: at.dataDir, mounts, threadsMax: 1 });
    await expect(mounted).rejects.toMatchObject({ code: "PLUGIN_REFUSED", hint });
  });
});
