/** `upkeep.export`: all of a memory as bytes of one moment, and a list of what it leaves out. */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { MemoryFile, Runtime } from "memcell";
import { expect, test } from "vitest";

import { asTexts, entryText, indexLine } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { readUserFiles, userFolder, userFolderNames, writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };

async function upsert(runtime: Runtime, name: string, body: string): Promise<void> {
  const input = { action: "upsert", name, type: "user", description: `about ${name}`, body };
  expect(await runtime.call("UpdateUserMemory", input, alice)).toMatchObject({ ok: true });
}

test("returns what tools and people wrote, and the trash, byte for byte, and changes nothing", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  await upsert(runtime, "a", "line\r\n--- \n\n");
  await upsert(runtime, "b", "gone");
  expect(await runtime.call("UpdateUserMemory", { action: "delete", name: "b" }, alice)).toMatchObject({ ok: true });
  const home = userFolder(folder.path, "alice");
  writeFileSync(join(home, "memory", "bytes.md"), Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
  writeFileSync(join(home, "memory", "marked.md"), "\uFEFFby hand\r\n");
  const before = treeFingerprint(home);
  const { files, leftOut } = await runtime.upkeep.export(alice);
  expect(leftOut).toEqual([]);
  const texts = asTexts(files);
  const stored = readUserFiles(folder.path, "alice");
  expect(Object.keys(texts).map((path) => `memory/${path}`)).toEqual(Object.keys(stored));
  expect(texts["bytes.md"]).toBe("\u00ff\u00fe\0\n");
  expect(texts["marked.md"]).toBe("\u00ef\u00bb\u00bfby hand\r\n");
  expect(texts["a.md"]).toBe(stored["memory/a.md"]);
  expect(Object.keys(texts).filter((path) => path.startsWith("trash/b."))).toHaveLength(1);
  expect(treeFingerprint(home)).toEqual(before);
});

test("a user without files gets an empty export and no folder", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  expect(await runtime.upkeep.export(alice)).toEqual({ files: [], leftOut: [] });
  expect(userFolderNames(folder.path)).toEqual([]);
  await expect(runtime.upkeep.export({ userId: "../bob" })).rejects.toMatchObject({ code: "USER_INVALID" });
});

test("leaves out and reports links, pipes, huge files, hard links and strange names, without opening them", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, {
    alice: { "memory/a.md": entryText("a"), "memory/MEMORY.md": indexLine("a") },
    bob: { "memory/secret.md": entryText("secret") },
  });
  const memory = join(userFolder(folder.path, "alice"), "memory");
  const secret = join(userFolder(folder.path, "bob"), "memory", "secret.md");
  symlinkSync(secret, join(memory, "link.md"));
  symlinkSync(join(userFolder(folder.path, "bob"), "memory"), join(memory, "trash"));
  linkSync(secret, join(memory, "second.md"));
  execFileSync("mkfifo", [join(memory, "pipe.md")]);
  writeFileSync(join(memory, "giant.md"), "");
  truncateSync(join(memory, "giant.md"), 2 ** 32);
  writeFileSync(join(memory, "two\nlines.md"), "x");
  mkdirSync(join(memory, ".git"));
  writeFileSync(join(memory, ".git", "config"), "x");
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const { files, leftOut } = await runtime.upkeep.export(alice);
  expect(files.map(({ path }) => path)).toEqual(["MEMORY.md", "a.md"]);
  expect(leftOut.map(({ scope }) => scope)).toEqual(leftOut.map(() => "memory"));
  expect(leftOut.map(({ path, reason }) => ({ path, reason }))).toEqual([
    { path: ".git", reason: "its name is not a valid memory path" },
    { path: "giant.md", reason: "it is 4294967296 bytes, at most 2097152 allowed" },
    { path: "link.md", reason: "a link is in its place" },
    { path: "pipe.md", reason: "it is not a regular file" },
    { path: "second.md", reason: "it has 2 names on the disk, only 1 is allowed" },
    { path: "trash", reason: "a link is in its place" },
    { path: "two\nlines.md", reason: "its name is not a valid memory path" },
  ]);
});

test("exports files whatever plugins say about them; an import leaves out and reports those no plugin keeps", async () => {
  using folder = temporaryFolder();
  const kept = { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a"), "memory/trash/old/x.txt": "x" };
  const strange = { "memory/notes.txt": "x", "memory/sub/b.md": entryText("b"), "memory/con.md": entryText("con") };
  writeUserFiles(folder.path, { alice: { ...kept, ...strange } });
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const { files, leftOut } = await runtime.upkeep.export(alice);
  expect(leftOut).toEqual([]);
  expect(files.map(({ path }) => `memory/${path}`)).toEqual(Object.keys({ ...kept, ...strange }).toSorted());
  const reason = "it is not MEMORY.md, <name>.md with a valid entry name, or below trash/";
  const plan = await runtime.upkeep.import({ userId: "bob" }, files);
  expect(plan.refused).toEqual([]);
  expect(plan.leftOut).toEqual([
    { path: "memory/con.md", code: "NAME_RESERVED", reason: "its name is reserved" },
    {
      path: "memory/notes.txt",
      code: "INPUT_INVALID",
      reason: `${reason}; to make it an entry, rename it to notes.md`,
    },
    { path: "memory/sub/b.md", code: "INPUT_INVALID", reason: `${reason}; to make it an entry, move it to b.md` },
  ]);
  expect(readUserFiles(folder.path, "bob")).toEqual(kept);
});

test("refuses more than 128 MiB before reading anything", async () => {
  using folder = temporaryFolder();
  const trash = join(userFolder(folder.path, "alice"), "memory", "trash");
  mkdirSync(trash, { recursive: true });
  for (let count = 0; count < 65; count++) {
    writeFileSync(join(trash, `x${count}.md`), "");
    truncateSync(join(trash, `x${count}.md`), 2 ** 21);
  }
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  await expect(runtime.upkeep.export(alice)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message:
      "Cannot export the memory: it has 136314880 bytes, at most 134217728 allowed; " +
      '"memcell trash purge" empties its trash',
  });
});

test("scopes too large together can be exported one by one; for an unknown scope, the error lists the existing ones", async () => {
  using folder = temporaryFolder();
  const place = (scope: string, name: string): string => join(userFolder(folder.path, "alice"), scope, "trash", name);
  for (const scope of ["journal", "memory", "notes"]) {
    mkdirSync(place(scope, "."), { recursive: true });
    for (let count = 0; count < 23; count++) {
      writeFileSync(place(scope, `x${count}.md`), "");
      truncateSync(place(scope, `x${count}.md`), 2 ** 21);
    }
  }
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: shippedNames(), threadsMax: 1 });
  await expect(runtime.upkeep.export(alice)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message:
      "Cannot export the memory: it has 144703488 bytes, at most 134217728 allowed at once: " +
      'name some of its scopes ("scopes", or --scope)',
  });
  const { files } = await runtime.upkeep.export(alice, { scopes: ["notes", "memory"] });
  expect(new Set(files.map(({ scope }) => scope))).toEqual(new Set(["memory", "notes"]));
  expect(files).toHaveLength(46);
  await expect(runtime.upkeep.export(alice, { scopes: ["memory", "jurnal"] })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: 'Cannot export the memory: scope is "jurnal", allowed: journal, memory, notes, runs, store',
  });
  expect(await runtime.upkeep.export({ userId: "bob" }, { scopes: ["journal"] })).toEqual({ files: [], leftOut: [] });
});

test("calls no plugin, however low the policy's limit on inputs is", async () => {
  using folder = temporaryFolder();
  const names = Array.from({ length: 150 }, (_, at) => `some-name-of-an-entry-${at}`);
  const files = Object.fromEntries(names.map((name) => [`memory/${name}.md`, entryText(name)]));
  writeUserFiles(folder.path, { alice: files });
  const plugins = [shippedPlugin("user-memory")];
  const policy = policyFor(plugins, { inputBytes: 4096 });
  await using runtime = await createRuntime({ dataDir: folder.path, plugins, policy, threadsMax: 1 });
  const exported = await runtime.upkeep.export(alice);
  expect(exported.files).toHaveLength(150);
  expect(await runtime.upkeep.import({ userId: "bob" }, exported.files)).toMatchObject({ leftOut: [], refused: [] });
  expect(readUserFiles(folder.path, "bob")).toMatchObject(files);
});

test("reports progress, file by file", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/a.md": "a", "memory/b.md": "b" } });
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const told: number[][] = [];
  await runtime.upkeep.export(alice, { onProgress: (...numbers) => void told.push(numbers) });
  expect(told).toEqual([
    [1, 2],
    [2, 2],
  ]);
});

test("is of one moment while others write: index and entries agree in every export", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 2 });
  // A second runtime writes, as another process would: only the user's lock keeps it out.
  await using writer = await createRuntime({ dataDir: folder.path, threadsMax: 1, durability: "relaxed" });
  for (let count = 0; count < 200; count++) await upsert(writer, `kept-${count}`, "k");
  const states = new Set<string>();
  const looking = (async () => {
    for (let count = 0; count < 25; count++) {
      const { files } = await runtime.upkeep.export(alice);
      expect(linesOf(files)).toEqual(entriesOf(files));
      states.add(JSON.stringify(asTexts(files)));
    }
    return "over" as const;
  })();
  for (let count = 0; (await Promise.race([looking, write(writer, count)])) !== "over"; count++);
  await looking;
  expect(states.size).toBeGreaterThan(1);
});

async function write(runtime: Runtime, count: number): Promise<void> {
  await upsert(runtime, `n${count % 7}`, `${count}`);
  if (count % 3 === 0) await runtime.call("UpdateUserMemory", { action: "delete", name: `n${count % 7}` }, alice);
}

const entriesOf = (files: readonly MemoryFile[]): string[] =>
  files.map(({ path }) => path).filter((path) => path !== "MEMORY.md" && !path.startsWith("trash/"));

function linesOf(files: readonly MemoryFile[]): string[] {
  const index = files.find(({ path }) => path === "MEMORY.md")?.content ?? Buffer.alloc(0);
  return Array.from(
    Buffer.from(index)
      .toString()
      .matchAll(/^- \[.*?\]\((.*?)\)/gm),
    ([, path]) => path ?? "",
  ).toSorted();
}
