/** What `upkeep.import` refuses: one bad file refuses the whole import, and nothing is created. */
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { asMemoryFiles, entryText, indexLine } from "../support/memory-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, userFolderNames, writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const bob = { userId: "bob" };

async function withRuntime(work: (runtime: Runtime, dataDir: string) => Promise<void>) {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  await work(runtime, folder.path);
}

test("accepts as an entry's file exactly what a tool can write as one", async () => {
  await withRuntime(async (runtime) => {
    const odd = [
      "a",
      "A-_9",
      "x".repeat(100),
      "x".repeat(101),
      "con",
      "COM0",
      "com10",
      "lpt9",
      "memory",
      "Memory",
      "nul",
    ];
    for (const name of [...odd, "aux", "prn", "a.b", "a b", "-", "_", "\u00e9", "__proto__", "constructor", ""]) {
      const input = { action: "upsert", name, type: "user", description: "d", body: "" };
      const { ok } = await runtime.call("UpdateUserMemory", input, alice);
      const files = asMemoryFiles({ [`${name}.md`]: entryText("x") });
      const { refused } = await runtime.upkeep.planImport(bob, files);
      expect({ name, isEntry: refused.length === 0 }).toEqual({ name, isEntry: ok });
    }
  });
});

const large = "x".repeat(65_537);

test.for([
  ["notes.txt", "INPUT_INVALID"],
  ["sub/a.md", "INPUT_INVALID"],
  ["a.md.md", "INPUT_INVALID"],
  ["memory.md", "NAME_RESERVED"],
  ["CON.md", "NAME_RESERVED"],
  ["Trash/a.md", "INPUT_INVALID"],
  ["trash", "INPUT_INVALID"],
  ["trash/trash/a.20250101T000000000Z.md", "INPUT_INVALID"],
  ["trash/TRASH/a.20250101T000000000Z.md", "INPUT_INVALID"],
  ["trash/trash.20250101T000000000Z", "INPUT_INVALID"],
] as const)("leaves out %j with %s, and refuses it if nothing else is imported", async ([path, code]) => {
  await withRuntime(async (runtime, dataDir) => {
    const alone = asMemoryFiles({ [path]: entryText("x") });
    const told = { path: `memory/${path}`, code };
    expect(await runtime.upkeep.planImport(bob, alone)).toMatchObject({ leftOut: [], refused: [told] });
    await expect(runtime.upkeep.import(bob, alone)).rejects.toMatchObject({ code });
    expect(userFolderNames(dataDir)).toEqual([]);
    const files = [...asMemoryFiles({ "MEMORY.md": indexLine("a"), "a.md": entryText("a") }), ...alone];
    const plan = await runtime.upkeep.planImport(bob, files);
    expect(plan).toMatchObject({ leftOut: [told], refused: [] });
    expect(await runtime.upkeep.import(bob, files)).toEqual(plan);
    expect(Object.keys(readUserFiles(dataDir, "bob"))).toEqual(["memory/MEMORY.md", "memory/a.md"]);
  });
});

test.for([
  ["../b.md", "INPUT_INVALID"],
  ["/etc/passwd", "INPUT_INVALID"],
  [".memcell/journal", "INPUT_INVALID"],
  ["trash/../a.md", "INPUT_INVALID"],
  ["a\\b.md", "INPUT_INVALID"],
  ["a\0.md", "INPUT_INVALID"],
  ["\u00e9.md", "INPUT_INVALID"],
  ["", "INPUT_INVALID"],
  ["A.md", "NAME_CONFLICT"],
  ["a.md", "NAME_CONFLICT"],
  ["there.md", "NAME_CONFLICT"],
  ["trash/one/two", "NAME_CONFLICT"],
] as const)("refuses the whole import because of %j, with %s", async ([path, code]) => {
  await withRuntime(async (runtime, dataDir) => {
    const there = { "memory/There.md": entryText("There"), "memory/MEMORY.md": indexLine("There") };
    writeUserFiles(dataDir, { bob: there });
    const others = asMemoryFiles({ "MEMORY.md": "", "a.md": entryText("a"), "trash/one": "" });
    const files = [...others, ...asMemoryFiles({ [path]: entryText("x") })];
    for (const ctx of path === "there.md" ? [bob] : [alice, bob]) {
      const { refused } = await runtime.upkeep.planImport(ctx, files);
      expect(refused.map((each) => each.code)).toContain(code);
      await expect(runtime.upkeep.import(ctx, files)).rejects.toMatchObject({ name: "ToolError" });
    }
    expect(readUserFiles(dataDir, "bob")).toEqual(there);
    expect(userFolderNames(dataDir)).toEqual(["bob"]);
  });
});

test.for([
  ["front matter that is not closed", Buffer.from("---\njust text"), "ENTRY_UNREADABLE"],
  ["front matter that is no YAML", Buffer.from("---\n{{{\n---\n"), "ENTRY_UNREADABLE"],
  ["bytes that are not UTF-8", Buffer.from([0xff, 0xfe]), "ENTRY_UNREADABLE"],
  ["a body that no tool could read", Buffer.from(entryText("x", large)), "QUOTA_EXCEEDED"],
  ["over 2 MiB", Buffer.alloc(2 ** 21 + 1, "x"), "QUOTA_EXCEEDED"],
] as const)("refuses an entry with %s and creates nothing", async ([, content, code]) => {
  await withRuntime(async (runtime, dataDir) => {
    const files = [
      ...asMemoryFiles({ "a.md": entryText("a"), "MEMORY.md": indexLine("a") }),
      { scope: "memory", path: "x.md", content },
    ];
    const { refused } = await runtime.upkeep.planImport(alice, files);
    expect(refused).toMatchObject([{ path: "memory/x.md", code }]);
    await expect(runtime.upkeep.import(alice, files, { replace: true })).rejects.toMatchObject({ code });
    expect(existsSync(join(dataDir, "users"))).toBe(false);
  });
});

test("refuses more than a memory can hold before examining any of it", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const content = Buffer.alloc(2 ** 21);
    const large33 = Array.from({ length: 33 }, (_, at) => ({ scope: "memory", path: `trash/${at}`, content }));
    await expect(runtime.upkeep.import(alice, large33)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    const many = Array.from({ length: 20_001 }, (_, at) => ({
      scope: "memory",
      path: `live/${at}`,
      content: Buffer.alloc(0),
    }));
    await expect(runtime.upkeep.import(alice, many)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    const path = "a.md";
    const misshapen = [{ path: 3 }, { path, content }, { scope: "../x", path, content }, { scope: "memory", path }];
    for (const file of misshapen) {
      await expect(async () => runtime.upkeep.import(alice, [file] as never)).rejects.toThrow(TypeError);
    }
    writeUserFiles(dataDir, { bob: { "memory/trash/mine": "x" } });
    const full = large33.slice(0, 32);
    await expect(runtime.upkeep.import(bob, full)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(readUserFiles(dataDir, "bob")).toEqual({ "memory/trash/mine": "x" });
    expect(userFolderNames(dataDir)).toEqual(["bob"]);
  });
});

test("a link in a file's place refuses the import, and its target stays unchanged", async () => {
  await withRuntime(async (runtime, dataDir) => {
    writeUserFiles(dataDir, { alice: { "memory/a.md": entryText("a") }, bob: { "memory/b.md": entryText("b") } });
    const secret = join(userFolder(dataDir, "alice"), "memory", "a.md");
    symlinkSync(secret, join(userFolder(dataDir, "bob"), "memory", "a.md"));
    const files = asMemoryFiles({ "a.md": entryText("a", "yours"), "c.md": entryText("c") });
    const imported = runtime.upkeep.import(bob, files, { replace: true });
    await expect(imported).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
    expect(readFileSync(secret, "utf8")).toBe(entryText("a"));
    expect(Object.keys(readUserFiles(dataDir, "bob"))).toEqual(["memory/b.md"]);
  });
});
