/**
 * Case-insensitive disks: real exFAT and NTFS images. A name must not lead to another that differs only by case. A user
 * whose id is a Windows device name must still get a folder.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { loopDisk } from "../support/loop-disk.ts";
import type { LoopDisk } from "../support/loop-disk.ts";
import { policyFor } from "../support/policy-for.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { readUserFiles } from "../support/user-files.ts";

/** The NTFS driver, as mounted here, lists every name in lower case, so only a lower-case name matches exactly. */
const nameOn = { exfat: "Foo", ntfs: "foo" } as const;

/** Hexadecimal letters in an escaped folder name are capitals, so fewer ids work where names lose their case. */
const idsOn = {
  exfat: [..."CON nul.txt com1 COM9.a.b lpt1 aux. prn x. .x a:b a*b? NUL. ... é".split(" "), "a b"],
  ntfs: [..."con com1 prn aux com9.a.b a!b a#b".split(" "), "a b"],
};

const clock = (): number => 1_700_000_000_000;
const upsert = (name: string, body: string) => ({ action: "upsert", name, type: "user", description: body, body });
const remove = (name: string) => ({ action: "delete", name });
/** Tests the capabilities directly: a plugin of another family has no rules about names. */
const ask = (of: string, request: object) => ({ of, request: JSON.stringify({ scope: "memory", ...request }) });
const denied = { ok: false, error: { code: "CAPABILITY_DENIED" } };
const nothing = { ok: true, data: ['{"ok":true,"content":null}'] };

describe.for(["exfat", "ntfs"] as const)("on %s", (kind) => {
  let disk: LoopDisk | string;
  let dataDir: string;
  let runtime: Runtime;
  beforeAll(async () => {
    disk = await loopDisk(kind, { bytes: 8 * 2 ** 20 });
    if (typeof disk === "string") return;
    dataDir = join(disk.path, "data");
    const plugins = [shippedPlugin("user-memory"), testPlugin("puppet")];
    runtime = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1, clock });
    // The first test of a kind can have to install the file system's programs.
  }, 300_000);
  afterAll(async () => {
    if (typeof disk === "string") return;
    await runtime.close();
    disk[Symbol.dispose]();
  });
  beforeEach((context) => {
    if (typeof disk === "string") skipWithReason(context, disk);
  });

  async function codeOf(userId: string, tool: string, input: unknown): Promise<string> {
    const result = await runtime.call(tool, input, { userId });
    return result.ok ? "ok" : result.error.code;
  }
  const playAs =
    (userId: string) =>
    (...steps: readonly object[]): Promise<ToolResult> =>
      runtime.call("Puppet", steps, { userId });

  test("files are written, replaced, read, listed and moved to the trash", async () => {
    const play = playAs("writer");
    for (const content of ["one", "two"]) {
      expect(await play(ask("store_write", { path: "a.md", content }))).toMatchObject({ ok: true });
    }
    expect(await play(ask("store_read", { path: "a.md" }), ask("store_list", {}))).toMatchObject({
      data: [
        '{"ok":true,"content":"two"}',
        expect.stringMatching(/"entries":\[\{"path":"a\.md","bytes":3,"changedUs":\d+\}\]/),
      ],
    });
    expect(await play(ask("store_trash", { path: "a.md" }))).toMatchObject({ ok: true });
    expect(await play(ask("store_read", { path: "a.md" }))).toMatchObject(nothing);
    expect(Object.keys(readUserFiles(dataDir, "writer"))).toHaveLength(1);
  });

  test("two ids that differ by case do not share a folder", async () => {
    expect(await codeOf("alice", "UpdateUserMemory", upsert("x", "of alice"))).toBe("ok");
    const before = readUserFiles(dataDir, "alice");
    for (const userId of ["Alice", "ALICE", "alicE"]) {
      expect(await codeOf(userId, "ReadUserMemory", { name: "x" })).toBe("STORAGE_UNSAFE");
      expect(await codeOf(userId, "UpdateUserMemory", upsert("x", "taken over"))).toBe("STORAGE_UNSAFE");
      expect(await codeOf(userId, "UpdateUserMemory", remove("x"))).toBe("STORAGE_UNSAFE");
      await expect(runtime.memoryIndex({ userId })).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
    }
    expect(readUserFiles(dataDir, "alice")).toEqual(before);
    expect(readdirSync(join(dataDir, "users")).filter((name) => name.toLowerCase() === "alice")).toEqual(["alice"]);
  });

  test("a folder that was created by hand belongs to the id with exactly its name", async () => {
    mkdirSync(join(dataDir, "users/bob/memory"), { recursive: true });
    writeFileSync(join(dataDir, "users/bob/memory/x.md"), "---\nname: x\ndescription: d\ntype: user\n---\nby hand");
    expect(await codeOf("Bob", "ReadUserMemory", { name: "x" })).toBe("STORAGE_UNSAFE");
    expect(await codeOf("Bob", "UpdateUserMemory", upsert("y", "z"))).toBe("STORAGE_UNSAFE");
    expect(await codeOf("bob", "ReadUserMemory", { name: "x" })).toBe("ok");
    expect(existsSync(join(dataDir, "users/bob/.memcell"))).toBe(false);
  });

  test("a name that differs by case finds no entry", async () => {
    expect(await codeOf("namer", "UpdateUserMemory", upsert(nameOn[kind], "first"))).toBe("ok");
    const before = readUserFiles(dataDir, "namer");
    for (const name of ["foo", "Foo", "FOO", "fOO"].filter((each) => each !== nameOn[kind])) {
      expect(await codeOf("namer", "ReadUserMemory", { name })).toBe("ENTRY_NOT_FOUND");
      expect(await codeOf("namer", "UpdateUserMemory", upsert(name, "second"))).toBe("NAME_CONFLICT");
      expect(await codeOf("namer", "UpdateUserMemory", remove(name))).toBe("ENTRY_NOT_FOUND");
    }
    expect(readUserFiles(dataDir, "namer")).toEqual(before);
    // Where listings lose case, the index looks like a twin: a second change is refused.
    const again = await codeOf("namer", "UpdateUserMemory", upsert(nameOn[kind], "again"));
    expect(again).toBe(kind === "ntfs" ? "NAME_CONFLICT" : "ok");
    if (kind === "ntfs") return expect(readUserFiles(dataDir, "namer")).toEqual(before);
    expect(await runtime.memoryIndex({ userId: "namer" })).toContain("- [Foo](Foo.md) — again");
    expect(await codeOf("namer", "UpdateUserMemory", remove("Foo"))).toBe("ok");
    const left = ["memory/MEMORY.md", "memory/trash/Foo.20231114T221320000Z.md"];
    expect(Object.keys(readUserFiles(dataDir, "namer"))).toEqual(left);
  });

  test("a guest reaches no file by another case", async () => {
    const play = playAs("guest");
    const first = [["a.md", "a"] as const, ["sub/b.md", "b"] as const];
    for (const [path, content] of first) {
      expect(await play(ask("store_write", { path, content }))).toMatchObject({ ok: true });
    }
    expect(await play(ask("store_trash", { path: "a.md" }))).toMatchObject({ ok: true });
    expect(await play(ask("store_write", { path: "a.md", content: "again" }))).toMatchObject({ ok: true });
    const before = readUserFiles(dataDir, "guest");
    for (const path of ["A.md", "a.MD", "Sub/b.md", "sub/B.md", "SUB/B.MD"]) {
      expect(await play(ask("store_read", { path }))).toMatchObject(nothing);
      expect(await play(ask("store_trash", { path }))).toMatchObject(denied);
      const taken = await play(ask("store_write", { path, content: "taken over" }));
      expect(taken).toMatchObject({ ok: false, error: { code: "NAME_CONFLICT" } });
    }
    for (const path of ["Trash/x.md", "TRASH/x.md", "tRASH/a.20231114T221320000Z.md", "Trash"]) {
      expect(await play(ask("store_write", { path, content: "x" }))).toMatchObject(denied);
      expect(await play(ask("store_trash", { path }))).toMatchObject(denied);
      expect(await play(ask("store_read", { path }))).toMatchObject(nothing);
    }
    expect(readUserFiles(dataDir, "guest")).toEqual(before);
  });

  test("a user can have a Windows device name as id", async () => {
    const users = readdirSync(join(dataDir, "users")).length;
    for (const userId of idsOn[kind]) {
      expect(await codeOf(userId, "UpdateUserMemory", upsert("x", `of ${userId}`))).toBe("ok");
    }
    for (const userId of idsOn[kind]) {
      const read = await runtime.call("ReadUserMemory", { name: "x" }, { userId });
      expect(read).toMatchObject({ ok: true, data: { body: `of ${userId}` } });
    }
    expect(readdirSync(join(dataDir, "users"))).toHaveLength(users + idsOn[kind].length);
  });
});
