/**
 * `upkeep.export`: all of a memory as bytes of one moment, and a list of what it leaves out. That no export or import
 * raises trust is in `test/trust/attacks/transfers.ts`.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, linkSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { MemoryFile } from "memcell";
import { expect, test } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { readZip, transferLimits } from "../stage/archive.ts";
import { asTexts, entryText, indexLine } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";
import { alice, bob, honest, openUpkeep, remove, upsert } from "./upkeep-stage.ts";

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

test("what is too much at once is refused before anything is read, and can be exported scope by scope", async () => {
  await using at = await openUpkeep();
  const fill = (scope: string, count: number, userId: string): void => {
    const names = Array.from({ length: count }, (_, each) => `${scope}/trash/x${each}.md`);
    at.put(Object.fromEntries(names.map((name) => [name, ""])), userId);
    for (const name of names) truncateSync(join(at.home(userId), name), 2 ** 21);
  };
  for (const scope of ["journal", "memory", "notes"]) fill(scope, 23, "alice");
  fill("memory", 65, "bob");
  const cannot = "Cannot export the memory: ";
  await expect(at.upkeep.export(bob)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: `${cannot}it has 136314880 bytes, at most 134217728 allowed; "memcell trash purge" empties its trash`,
  });
  await expect(at.upkeep.export(alice)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: `${cannot}it has 144703488 bytes, at most 134217728 allowed at once: name some of its scopes ("scopes", or --scope)`,
  });
  const { files } = await at.upkeep.export(alice, { scopes: ["notes", "memory"] });
  expect(new Set(files.map(({ scope }) => scope))).toEqual(new Set(["memory", "notes"]));
  expect(files).toHaveLength(46);
  await expect(at.upkeep.export(alice, { scopes: ["memory", "jurnal"] })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: `${cannot}scope is "jurnal", allowed: journal, memory, notes, runs, store`,
  });
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

test("what an export tells of trust has room for as many files as a memory can have", async () => {
  const [one, two] = [await trustBytesOf(1), await trustBytesOf(2)];
  expect(two).toBeGreaterThan(one);
  expect(one + (two - one) * transferLimits.filesMax).toBeLessThan(transferLimits.originsBytesMax);
});
