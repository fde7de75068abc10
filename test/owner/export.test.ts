/**
 * `upkeep.export` and `openExport`: all of a memory as bytes of one moment, and a list of what it leaves out. That no export or import
 * raises trust is in `test/trust/attacks/transfers.ts`.
 */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  linkSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { MemoryFile, OpenExport } from "memcell";
import { expect, test } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { readZip, transferLimits, zipOf } from "../stage/archive.ts";
import { asTexts, entryText, indexLine } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";
import { alice, bob, honest, openUpkeep, poisoned, remove, upsert } from "./upkeep-stage.ts";

test("returns what tools and people wrote, and the trash, byte for byte, file by file, and changes nothing", async () => {
  await using at = await openUpkeep();
  for (const input of [upsert("a", "line\r\n--- \n\n", "d"), upsert("b", "gone"), remove("b")]) {
    await at.write({ ctx: alice, input });
  }
  writeFileSync(join(at.home(), "memory/bytes.md"), Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
  at.put({ "memory/marked.md": "\uFEFFby hand\r\n" });
  const before = treeFingerprint(at.home());
  const told: string[] = [];
  const onProgress = (done: number, all: number): void => void told.push(`${done} of ${all}`);
  const { files, leftOut } = await at.upkeep.export(alice, { onProgress });
  expect(leftOut).toEqual([]);
  expect(told).toEqual(files.map((_, done) => `${done + 1} of ${files.length}`));
  const texts = asTexts(files);
  expect(Object.keys(texts).map((path) => `memory/${path}`)).toEqual(Object.keys(at.files()));
  expect(texts["bytes.md"]).toBe("\u00ff\u00fe\0\n");
  expect(texts["marked.md"]).toBe("\u00ef\u00bb\u00bfby hand\r\n");
  expect(texts["a.md"]).toBe(at.files()["memory/a.md"]);
  expect(Object.keys(texts).filter((path) => path.startsWith("trash/b."))).toHaveLength(1);
  expect(treeFingerprint(at.home())).toEqual(before);
});

test("a user without files gets an empty export and no folder", async () => {
  await using at = await openUpkeep();
  for (const scopes of [undefined, ["journal"]]) {
    expect(await at.upkeep.export(alice, { ...(scopes && { scopes }) })).toEqual({ files: [], leftOut: [] });
  }
  expect(at.users()).toEqual([]);
  await expect(at.upkeep.export({ userId: "../bob" })).rejects.toMatchObject({ code: "USER_INVALID" });
});

test("links, pipes, huge files, hard links and strange names are left out and reported, without opening them", async () => {
  await using at = await openUpkeep();
  at.put({ "memory/a.md": entryText("a"), "memory/MEMORY.md": indexLine("a"), "memory/.git/config": "x" });
  at.put({ "memory/secret.md": entryText("secret") }, "bob");
  const [memory, bobs] = [join(at.home(), "memory"), join(at.home("bob"), "memory")];
  symlinkSync(join(bobs, "secret.md"), join(memory, "link.md"));
  symlinkSync(bobs, join(memory, "trash"));
  linkSync(join(bobs, "secret.md"), join(memory, "second.md"));
  execFileSync("mkfifo", [join(memory, "pipe.md")]);
  writeFileSync(join(memory, "giant.md"), "");
  truncateSync(join(memory, "giant.md"), 2 ** 32);
  writeFileSync(join(memory, "two\nlines.md"), "x");
  const { files, leftOut } = await at.upkeep.export(alice);
  expect(files.map(({ path }) => path)).toEqual(["MEMORY.md", "a.md"]);
  expect(leftOut.map(({ scope, path, reason }) => [`${scope}/${path}`, reason])).toEqual([
    ["memory/.git", "its name is not a valid memory path"],
    ["memory/giant.md", "it is 4294967296 bytes, at most 2097152 allowed"],
    ["memory/link.md", "a link is in its place"],
    ["memory/pipe.md", "it is not a regular file"],
    ["memory/second.md", "it has 2 names on the disk, only 1 is allowed"],
    ["memory/trash", "a link is in its place"],
    ["memory/two\nlines.md", "its name is not a valid memory path"],
  ]);
});

/** All that an open export yields, as texts by scope and path. */
async function readAll(exported: OpenExport): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for await (const { scope, path, content } of exported.contents()) {
    texts[`${scope}/${path}`] = Buffer.from(content).toString("latin1");
  }
  return texts;
}

test("a memory of any size is exported, as a whole or scope by scope, and its contents are read later", async () => {
  await using at = await openUpkeep();
  const names = ["journal", "memory", "notes"].flatMap((scope) =>
    Array.from({ length: 23 }, (_, each) => `${scope}/trash/x${each}.md`),
  );
  at.put(Object.fromEntries(names.map((name) => [name, ""])));
  for (const name of names) truncateSync(join(at.home(), name), 2 ** 21);
  const told: string[] = [];
  const onProgress = (done: number, all: number): void => void told.push(`${done} of ${all}`);
  const { files, leftOut, ...exported } = await at.upkeep.openExport(alice, { onProgress });
  expect(files.map(({ scope, path }) => `${scope}/${path}`)).toEqual(names.toSorted());
  expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(144_703_488);
  expect(told).toEqual([]);
  let read = 0;
  for await (const { bytes, sha256 } of hashed(exported.contents())) {
    expect({ bytes, sha256 }).toEqual({ bytes: 2 ** 21, sha256: files[read]?.sha256 });
    read++;
  }
  expect(leftOut).toEqual([]);
  expect(told).toEqual(files.map((_, done) => `${done + 1} of ${files.length}`));
  const some = await at.upkeep.openExport(alice, { scopes: ["notes", "memory"] });
  expect(some.files).toEqual(files.filter(({ scope }) => scope !== "journal"));
  for (const method of ["export", "openExport"] as const) {
    await expect(at.upkeep[method](alice, { scopes: ["memory", "jurnal"] })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: 'Cannot export the memory: scope is "jurnal", allowed: journal, memory, notes, runs, store',
    });
  }
});

async function* hashed(files: AsyncIterable<MemoryFile>) {
  for await (const { content } of files) yield { bytes: content.length, sha256: hash("sha256", content) };
}

test("an open export has the bytes that an export has, is of one moment, and keeps nobody waiting", async () => {
  await using at = await openUpkeep("files", { plugins: ["user-memory"] });
  for (const name of ["edited", "kept", "removed"]) await at.write({ ctx: alice, input: upsert(name, "before") });
  at.put({ "memory/gone.md": "mine", "memory/mine.md": "mine", "memory/trash/x": "mine" });
  const { files } = await at.upkeep.export(alice);
  const before = Object.fromEntries(
    files.map(({ scope, path, content }) => [`${scope}/${path}`, Buffer.from(content).toString("latin1")]),
  );
  const exported = await at.upkeep.openExport(alice);
  expect(await readAll(exported)).toEqual(before);
  const reader = exported.contents()[Symbol.asyncIterator]();
  // By calls, while somebody is about to read: what the history or the trash has is as it was.
  await at.write({ ctx: alice, input: upsert("edited", "after") }, { ctx: alice, input: remove("removed") });
  await at.write({ ctx: alice, input: upsert("new", "after") });
  // By hand: what a version has can be exported still, and what none has is left out.
  at.put({ "memory/kept.md": entryText("kept"), "memory/mine.md": "changed", "memory/added.md": "new" });
  rmSync(join(at.home(), "memory/gone.md"));
  const texts: Record<string, string> = {};
  for (let next = await reader.next(); !next.done; next = await reader.next()) {
    const { scope, path, content } = next.value;
    texts[`${scope}/${path}`] = Buffer.from(content).toString("latin1");
    await at.write({ ctx: alice, input: upsert("busy", path) });
  }
  const reason = "it was edited during the export";
  expect(exported.leftOut).toEqual(["gone.md", "mine.md"].map((path) => ({ scope: "memory", path, reason })));
  const { "memory/gone.md": _gone, "memory/mine.md": _mine, ...others } = before;
  expect(texts).toEqual(others);
  await at.runtime.close();
  await expect(readAll(exported)).rejects.toMatchObject({ code: "CLOSED" });
});

test("a file that is left out while the contents are read is trusted least, under whatever name it comes back", async () => {
  await using at = await openUpkeep("files", { plugins: ["user-memory"] });
  await at.write({ ctx: poisoned, input: upsert("evil", "page") }, { ctx: alice, input: upsert("other", "untold") });
  const evil = join(at.home(), "memory/evil.md");
  // No version has this text, so nothing has it once it is gone.
  appendFileSync(evil, "by hand");
  const exported = await at.upkeep.openExport(alice);
  rmSync(evil);
  const pieces: Uint8Array[] = [];
  for await (const piece of zipOf(exported)) pieces.push(piece);
  expect(exported.leftOut).toMatchObject([{ path: "evil.md" }]);
  const files = await readZip(Buffer.concat(pieces));
  expect(files.map(({ path, trust }) => [path, trust])).toEqual([
    ["MEMORY.md", "untrusted_document"],
    ["other.md", "untrusted_document"],
  ]);
});

const contents = (): never => {
  throw new RangeError("It is not to be read");
};

test("what no zip file can hold is refused before anything of it is read or written", async () => {
  using folder = temporaryFolder();
  const file = { scope: "memory", path: "a.md", bytes: 2 ** 21 };
  const most = transferLimits.zipEntriesMax - 1;
  const messageOf = (count: number, bytes: number): string => {
    const files = Array.from({ length: count }, (_, at) => ({ ...file, path: `${at}.md`, bytes }));
    try {
      return typeof zipOf({ files, contents });
    } catch (error) {
      expect(error).toMatchObject({ name: "ToolError", code: "QUOTA_EXCEEDED" });
      return (error as Error).message;
    }
  };
  expect([messageOf(most, 0), messageOf(2_046, 2 ** 21)]).toEqual(["object", "object"]);
  const has =
    "Cannot write the export: a zip file that every program can read holds at most 65534 entries and 4 GiB, and";
  const remedy =
    'export it as JSON or as a folder ("--format json" or "--format markdown"), or scope by scope ("--scope")';
  expect(messageOf(most + 1, 0)).toBe(`${has} this one would have 65535 entries and 6924543 bytes; ${remedy}`);
  expect(messageOf(2_048, 2 ** 21)).toBe(`${has} this one would have 2049 entries and 4295178226 bytes; ${remedy}`);
  const files = Array.from({ length: most }, (_, at) => ({ ...file, path: `${at}.md`, content: Buffer.alloc(0) }));
  const zip = join(folder.path, "most.zip");
  writeFileSync(zip, await zippedBytes(files.map(({ bytes: _bytes, ...each }) => each)));
  const count = "import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).namelist()))";
  expect(execFileSync("python3", ["-c", count, zip], { encoding: "utf8" })).toBe("65534\n");
  expect(await readZip(readFileSync(zip))).toHaveLength(most);
});

test("no plugin is called, however low the policy's limit on inputs is", async () => {
  const plugins = [shippedPlugin("user-memory")];
  await using at = await openUpkeep("files", { plugins, policy: policyFor(plugins, { inputBytes: 4096 }) });
  const names = Array.from({ length: 150 }, (_, each) => `some-name-of-an-entry-${each}`);
  const entries = Object.fromEntries(names.map((name) => [`memory/${name}.md`, entryText(name)]));
  at.put(entries);
  const { files } = await at.upkeep.export(alice);
  expect(files).toHaveLength(150);
  expect(await at.upkeep.import(bob, files)).toMatchObject({ leftOut: [], refused: [] });
  expect(at.files("bob")).toMatchObject(entries);
});

const trusts = (files: readonly MemoryFile[]): Record<string, string> =>
  Object.fromEntries(files.flatMap(({ scope, path, trust }) => (trust ? [[`${scope}/${path}`, trust]] : [])));

test("an export of what is trusted enough is as it was before exports told of trust, and can be read", async () => {
  await using at = await openUpkeep("memory");
  await at.write({ ctx: honest, input: upsert("mine", "said") }, { ctx: alice, input: upsert("other", "untold") });
  const { files } = await at.upkeep.export(alice);
  expect(files.every((file) => !Object.hasOwn(file, "trust"))).toBe(true);
  const zip = await zippedBytes(files);
  expect(zip.includes("memcell-origins.json")).toBe(false);
  expect(await readZip(zip)).toEqual(files);
});

test("files whose history is damaged or lost are exported, and trusted least", async () => {
  await using at = await openUpkeep("files", { plugins: ["user-memory"] });
  await at.write({ ctx: honest, input: upsert("mine", "said") });
  await at.runtime.close();
  const damages: ((journal: string) => void)[] = [
    (journal) => rmSync(journal, { recursive: true }),
    (journal) => appendFileSync(join(journal, "present.json"), "x".repeat(9)),
    (journal) => appendFileSync(join(journal, "000000000001.log"), "{}\n"),
  ];
  for (const [each, damage] of damages.entries()) {
    const dataDir = at.place(String(each));
    cpSync(at.dataDir, dataDir, { recursive: true });
    damage(join(dataDir, "users/alice/.memcell/journal"));
    await using runtime = await createRuntime({ dataDir, plugins: ["user-memory"], threadsMax: 1 });
    const { files } = await runtime.upkeep.export(alice);
    expect(files.map(({ path }) => path)).toEqual(["MEMORY.md", "mine.md"]);
    if (each === 0) expect(new Set(Object.values(trusts(files)))).toEqual(new Set(["untrusted_document"]));
  }
});

test("an import refuses a trust that is none", async () => {
  await using at = await openUpkeep("memory");
  const file = { scope: "memory", path: "a.md", content: Buffer.from("x"), trust: "trusted" } as unknown as MemoryFile;
  const message = 'import(): files[0].trust is "trusted"; expected a list of files, each with a scope, a path';
  await expect((async () => await at.upkeep.import(alice, [file]))()).rejects.toThrow(message);
});

/** The bytes of what a zip file of so many files, of the longest names, tells of their trust. */
async function trustBytesOf(count: number): Promise<number> {
  const files = Array.from({ length: count }, (_, each) => {
    const path = `${"p".repeat(storeLimits.pathBytesMax - 5)}${each + 10_000}`;
    return { scope: "s".repeat(32), path, content: new Uint8Array(), trust: "untrusted_document" as const };
  });
  const zip = await zippedBytes(files);
  // The length comes in the header before the content.
  return zip.readUInt32LE(zip.lastIndexOf("memcell-origins.json") - 22);
}

test("what an export tells of trust has room for as many files as a zip file can have", async () => {
  const [one, two] = [await trustBytesOf(1), await trustBytesOf(2)];
  expect(two).toBeGreaterThan(one);
  expect(one + (two - one) * transferLimits.zipEntriesMax).toBeLessThan(transferLimits.aboutBytesMax);
});
