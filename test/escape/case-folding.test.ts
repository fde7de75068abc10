/**
 * Case-insensitive disks: real exFAT and NTFS images. A name must not lead to another that differs only by case. A user
 * whose id is a Windows device name must still get a folder.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";
import type { TestContext } from "vitest";

import { loopDisk } from "../support/loop-disk.ts";
import type { LoopDisk } from "../support/loop-disk.ts";
import { policyFor } from "../support/policy-for.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { readUserFiles } from "../support/user-files.ts";

const kinds = ["exfat", "ntfs"] as const;
/** The NTFS driver, as mounted here, lists every name in lower case, so only a lower-case name matches exactly. */
const nameOn = { exfat: "Foo", ntfs: "foo" } as const;
const mebibyte = 2 ** 20;
/** The first test of a kind can have to install the file system's programs. */
const timeout = 300_000;

async function diskOr(context: TestContext, kind: (typeof kinds)[number]): Promise<LoopDisk> {
  const disk = await loopDisk(kind, { bytes: 8 * mebibyte });
  return typeof disk === "string" ? skipWithReason(context, disk) : disk;
}

const clock = (): number => 1_700_000_000_000;
const plugins = [shippedPlugin("user-memory"), testPlugin("puppet")];
const open = (dataDir: string): Promise<Runtime> =>
  createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1, clock });

const upsert = (name: string, body: string) => ({ action: "upsert", name, type: "user", description: body, body });

async function codeOf(runtime: Runtime, userId: string, tool: string, input: unknown): Promise<string> {
  const result = await runtime.call(tool, input, { userId });
  return result.ok ? "ok" : result.error.code;
}

test("on exfat a user's entries are written, replaced, read, listed and deleted", { timeout }, async (context) => {
  using disk = await diskOr(context, "exfat");
  const dataDir = join(disk.path, "data");
  {
    await using runtime = await open(dataDir);
    for (const body of ["one", "two"]) {
      expect(await codeOf(runtime, "alice", "UpdateUserMemory", upsert("Foo", body))).toBe("ok");
    }
    expect(await codeOf(runtime, "alice", "UpdateUserMemory", upsert("bar", "three"))).toBe("ok");
    const read = await runtime.call("ReadUserMemory", { name: "Foo" }, { userId: "alice" });
    expect(read).toMatchObject({ ok: true, data: { body: "two" } });
    expect(await runtime.memoryIndex({ userId: "alice" })).toContain("- [Foo](Foo.md) — two\n- [bar](bar.md) — three");
    expect(await codeOf(runtime, "alice", "UpdateUserMemory", { action: "delete", name: "Foo" })).toBe("ok");
    expect(await codeOf(runtime, "alice", "ReadUserMemory", { name: "Foo" })).toBe("ENTRY_NOT_FOUND");
  }
  await using runtime = await open(dataDir);
  expect(await codeOf(runtime, "alice", "ReadUserMemory", { name: "bar" })).toBe("ok");
  const files = Object.keys(readUserFiles(dataDir, "alice"));
  expect(files).toEqual(["memory/MEMORY.md", "memory/bar.md", "memory/trash/Foo.20231114T221320000Z.md"]);
});

test("on ntfs files are written, replaced, read, listed and moved to the trash", { timeout }, async (context) => {
  using disk = await diskOr(context, "ntfs");
  await using runtime = await open(join(disk.path, "data"));
  const play = async (...steps: object[]) => runtime.call("Puppet", steps, { userId: "alice" });
  for (const content of ["one", "two"]) {
    expect(await play(ask("store_write", { path: "a.md", content }))).toMatchObject({
      ok: true,
      data: ['{"ok":true}'],
    });
  }
  expect(await play(ask("store_read", { path: "a.md" }), ask("store_list", {}))).toMatchObject({
    data: [
      '{"ok":true,"content":"two"}',
      expect.stringMatching(/^\{"ok":true,"entries":\[\{"path":"a\.md","bytes":3,"changedUs":\d+\}\]\}$/),
    ],
  });
  expect(await play(ask("store_trash", { path: "a.md" }))).toMatchObject({ ok: true });
  expect(await play(ask("store_read", { path: "a.md" }))).toMatchObject({ data: ['{"ok":true,"content":null}'] });
});

test(
  "where listings lose case, the index looks like a twin: a second change is refused, the first is kept",
  {
    timeout,
  },
  async (context) => {
    using disk = await diskOr(context, "ntfs");
    const dataDir = join(disk.path, "data");
    await using runtime = await open(dataDir);
    expect(await codeOf(runtime, "alice", "UpdateUserMemory", upsert("foo", "one"))).toBe("ok");
    const before = readUserFiles(dataDir, "alice");
    expect(await codeOf(runtime, "alice", "UpdateUserMemory", upsert("foo", "two"))).toBe("NAME_CONFLICT");
    expect(readUserFiles(dataDir, "alice")).toEqual(before);
  },
);

test.for(kinds)("on %s two ids that differ by case do not share a folder", { timeout }, async (kind, context) => {
  using disk = await diskOr(context, kind);
  const dataDir = join(disk.path, "data");
  await using runtime = await open(dataDir);
  expect(await codeOf(runtime, "alice", "UpdateUserMemory", upsert("x", "of alice"))).toBe("ok");
  const before = readUserFiles(dataDir, "alice");
  for (const userId of ["Alice", "ALICE", "alicE"]) {
    expect(await codeOf(runtime, userId, "ReadUserMemory", { name: "x" })).toBe("STORAGE_UNSAFE");
    expect(await codeOf(runtime, userId, "UpdateUserMemory", upsert("x", "taken over"))).toBe("STORAGE_UNSAFE");
    expect(await codeOf(runtime, userId, "UpdateUserMemory", { action: "delete", name: "x" })).toBe("STORAGE_UNSAFE");
    await expect(runtime.memoryIndex({ userId })).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
  }
  expect(readUserFiles(dataDir, "alice")).toEqual(before);
  expect(readdirSync(join(dataDir, "users"))).toEqual(["alice"]);
});

test.for(kinds)(
  "on %s a folder that was created by hand belongs to the id with exactly its name",
  { timeout },
  async (kind, context) => {
    using disk = await diskOr(context, kind);
    const dataDir = join(disk.path, "data");
    mkdirSync(join(dataDir, "users/alice/memory"), { recursive: true });
    writeFileSync(join(dataDir, "users/alice/memory/x.md"), "---\nname: x\ndescription: d\ntype: user\n---\nby hand");
    await using runtime = await open(dataDir);
    expect(await codeOf(runtime, "Alice", "ReadUserMemory", { name: "x" })).toBe("STORAGE_UNSAFE");
    expect(await codeOf(runtime, "Alice", "UpdateUserMemory", upsert("y", "z"))).toBe("STORAGE_UNSAFE");
    expect(await codeOf(runtime, "alice", "ReadUserMemory", { name: "x" })).toBe("ok");
    expect(existsSync(join(dataDir, "users/alice/.memcell"))).toBe(false);
  },
);

test.for(kinds)("on %s a name that differs by case finds no entry", { timeout }, async (kind, context) => {
  using disk = await diskOr(context, kind);
  const dataDir = join(disk.path, "data");
  await using runtime = await open(dataDir);
  expect(await codeOf(runtime, "alice", "UpdateUserMemory", upsert(nameOn[kind], "first"))).toBe("ok");
  const before = readUserFiles(dataDir, "alice");
  for (const name of ["foo", "Foo", "FOO", "fOO"].filter((each) => each !== nameOn[kind])) {
    expect(await codeOf(runtime, "alice", "ReadUserMemory", { name })).toBe("ENTRY_NOT_FOUND");
    expect(await codeOf(runtime, "alice", "UpdateUserMemory", upsert(name, "second"))).toBe("NAME_CONFLICT");
    expect(await codeOf(runtime, "alice", "UpdateUserMemory", { action: "delete", name })).toBe("ENTRY_NOT_FOUND");
  }
  expect(readUserFiles(dataDir, "alice")).toEqual(before);
});

/** Tests the capabilities directly: a plugin of another family has no rules about names. */
const ask = (of: string, request: object) => ({ of, request: JSON.stringify({ scope: "memory", ...request }) });

test.for(kinds)("on %s a guest reaches no file by another case", { timeout }, async (kind, context) => {
  using disk = await diskOr(context, kind);
  const dataDir = join(disk.path, "data");
  await using runtime = await open(dataDir);
  const play = async (...steps: object[]) => runtime.call("Puppet", steps, { userId: "alice" });
  const written = await play(
    ask("store_write", { path: "a.md", content: "a" }),
    ask("store_write", { path: "sub/b.md", content: "b" }),
  );
  expect(written).toMatchObject({ ok: true });
  expect(await play(ask("store_trash", { path: "a.md" }))).toMatchObject({ ok: true });
  expect(await play(ask("store_write", { path: "a.md", content: "again" }))).toMatchObject({ ok: true });
  const before = readUserFiles(dataDir, "alice");

  for (const path of ["A.md", "a.MD", "Sub/b.md", "sub/B.md", "SUB/B.MD"]) {
    expect(await play(ask("store_read", { path }))).toMatchObject({ ok: true, data: ['{"ok":true,"content":null}'] });
    expect(await play(ask("store_trash", { path }))).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    const taken = await play(ask("store_write", { path, content: "taken over" }));
    expect(taken).toMatchObject({ ok: false, error: { code: "NAME_CONFLICT" } });
  }
  for (const path of ["Trash/x.md", "TRASH/x.md", "tRASH/a.20231114T221320000Z.md", "Trash"]) {
    for (const step of [ask("store_write", { path, content: "x" }), ask("store_trash", { path })]) {
      expect(await play(step)).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    }
    expect(await play(ask("store_read", { path }))).toMatchObject({ ok: true, data: ['{"ok":true,"content":null}'] });
  }
  expect(readUserFiles(dataDir, "alice")).toEqual(before);
});

/** Hexadecimal letters in an escaped folder name are capitals, so fewer ids work where names lose their case. */
const idsOn = {
  exfat: [
    "CON",
    "nul.txt",
    "com1",
    "COM9.a.b",
    "lpt1",
    "aux.",
    "prn",
    "x.",
    ".x",
    "a b",
    "a:b",
    "a*b?",
    "NUL.",
    "...",
    "é",
  ],
  ntfs: ["con", "com1", "prn", "aux", "com9.a.b", "a b", "a!b", "a#b"],
} as const;

test.for(kinds)("on %s a user can have a Windows device name as id", { timeout }, async (kind, context) => {
  using disk = await diskOr(context, kind);
  const dataDir = join(disk.path, "data");
  await using runtime = await open(dataDir);
  for (const userId of idsOn[kind]) {
    expect(await codeOf(runtime, userId, "UpdateUserMemory", upsert("x", `of ${userId}`))).toBe("ok");
  }
  for (const userId of idsOn[kind]) {
    const read = await runtime.call("ReadUserMemory", { name: "x" }, { userId });
    expect(read).toMatchObject({ ok: true, data: { body: `of ${userId}` } });
  }
  expect(readdirSync(join(dataDir, "users"))).toHaveLength(idsOn[kind].length);
});
