/**
 * Hostile texts at each border: a guest's paths, prefixes and scopes, the names that a model chooses, and user ids. What
 * does not fit the grammar is refused with a code before any disk access. Three trees have the same names in them, so that
 * an escape finds something to read: the user's own, another user's, and one outside the data folder.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder } from "../support/user-files.ts";
import { hostileTexts, notTexts, titleOf } from "./hostile-texts.ts";

const secret = "secret of bob";
/** A denial shows only a part of the requested path. */
const messageCharsMax = 1000;
const denied = "CAPABILITY_DENIED";
const alice = { userId: "alice" };
const takenOver = { type: "user", description: "taken over", body: "taken over" };

const folder = temporaryFolder();
let runtime: Runtime;
let before: ReturnType<typeof treeFingerprint>;
beforeAll(async () => {
  const dataDir = join(folder.path, "data");
  const plugins = [testPlugin("puppet"), shippedPlugin("user-memory")];
  runtime = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
  for (const [userId, text] of Object.entries({ alice: "of alice", bob: secret })) {
    const fact = (name: string) => ({ action: "upsert", name, type: "user", description: text, body: text });
    for (const name of ["x", "old"]) await runtime.call("UpdateUserMemory", fact(name), { userId });
    await runtime.call("UpdateUserMemory", { action: "delete", name: "old" }, { userId });
  }
  await runtime.close();
  cpSync(userFolder(dataDir, "bob"), join(folder.path, "outside"), { recursive: true });
  runtime = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
  // The whole tree, so that a new file is noticed wherever it is.
  before = treeFingerprint(folder.path);
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const expectUntouched = (): void => expect(treeFingerprint(folder.path)).toEqual(before);

/** Fails unless a result has this code, or succeeds, and reveals nothing of the other user or the machine. */
function expectCode(result: ToolResult, code: string): void {
  expect(result.ok ? "ok" : result.error.code).toBe(code);
  const shown = JSON.stringify(result);
  expect(shown).not.toContain(secret);
  expect(shown).not.toContain(folder.path);
  expect(shown.length).toBeLessThan(messageCharsMax);
}

/** One capability request from a guest that has every right. */
const ask = (of: string, request: object): Promise<ToolResult> =>
  runtime.call("Puppet", [{ of, request: JSON.stringify(request) }], alice);
const read = (name: unknown, ctx = alice): Promise<ToolResult> => runtime.call("ReadUserMemory", { name }, ctx);
const remove = (name: unknown, ctx = alice): Promise<ToolResult> =>
  runtime.call("UpdateUserMemory", { action: "delete", name }, ctx);
const upsert = (name: unknown, ctx = alice): Promise<ToolResult> =>
  runtime.call("UpdateUserMemory", { action: "upsert", name, ...takenOver }, ctx);
const indexOf = (userId: unknown): Promise<string> =>
  runtime.memoryIndex({ userId: userId as string }).catch(({ code }: { readonly code: string }) => code);

/** Each capability with a scope. */
async function expectScopeDenied(scope: unknown): Promise<void> {
  expectCode(await ask("store_read", { scope, path: "x.md" }), denied);
  expectCode(await ask("store_list", { scope, prefix: "" }), denied);
  expectCode(await ask("store_write", { scope, path: "x.md", content: "taken over" }), denied);
  expectCode(await ask("store_trash", { scope, path: "x.md" }), denied);
}

describe.for(hostileTexts.map((row) => Object.assign({ title: titleOf(row.text) }, row)))("$title", (row) => {
  const { text } = row;
  afterAll(expectUntouched);

  test("as a path, a prefix and a scope", async () => {
    const request = { scope: "memory", path: text };
    const found = await ask("store_read", request);
    expectCode(found, row.path === "denied" ? denied : "ok");
    if (found.ok) expect(found.data).toEqual(['{"ok":true,"content":null}']);
    else expectCode(await ask("store_write", { ...request, content: "taken over" }), denied);
    expectCode(await ask("store_trash", request), denied);
    const list = await ask("store_list", { scope: "memory", prefix: text });
    expectCode(list, row.prefix === "denied" ? denied : "ok");
    if (list.ok) expect((list.data as string[])[0]).not.toMatch(/bob|"x\.md"|owner|journal/);
    if (text !== "memory") await expectScopeDenied(text);
  });

  test("as the name of an entry", async () => {
    expectCode(await read(text), row.name);
    expectCode(await remove(text), row.name);
    if (row.name !== "ENTRY_NOT_FOUND") expectCode(await upsert(text), row.name);
  });

  // Bob has a memory.
  test.skipIf(text === "bob")("as a user id", async () => {
    const ctx = { userId: text };
    const code = row.user === "fits" ? "ENTRY_NOT_FOUND" : row.user;
    expectCode(await read("x", ctx), code);
    expectCode(await remove("x", ctx), code);
    if (row.user !== "fits") expectCode(await upsert("x", ctx), code);
    expect(await indexOf(text)).toBe(row.user === "fits" ? "" : row.user);
  });
});

test.for(notTexts.map((value) => ({ value, title: titleOf(value) })))("$title, which is no text", async ({ value }) => {
  for (const of of ["store_read", "store_trash"]) expectCode(await ask(of, { scope: "memory", path: value }), denied);
  expectCode(await ask("store_list", { scope: "memory", prefix: value }), denied);
  expectCode(await ask("store_write", { scope: "memory", path: "y.md", content: value }), denied);
  expectCode(await ask("clock_now", { userId: value }), denied);
  await expectScopeDenied(value);
  for (const call of [read, remove, upsert]) expectCode(await call(value), "INPUT_INVALID");
  const code = value === null ? "USER_REQUIRED" : "USER_INVALID";
  for (const call of [read, upsert]) expectCode(await call("x", { userId: value as string }), code);
  expect(await indexOf(value)).toBe(code);
  expectUntouched();
});

test.for(["userId", "user", "ctx", "scope", "path", "dataDir", "__proto__", "constructor"])(
  "a field %s beside the name is refused and does not change the user",
  async (key) => {
    const input = JSON.parse(`{"name":"x","${key}":"bob"}`) as object;
    expectCode(await runtime.call("ReadUserMemory", input, alice), "INPUT_INVALID");
  },
);

test("an id that is a prefix, a suffix, or another case of a user's id is another user", async () => {
  for (const userId of ["bo", "bobb", "ob", "Bob", "BOB", "bob_", "alice@", "alic"]) {
    expectCode(await read("x", { userId }), "ENTRY_NOT_FOUND");
  }
  expectUntouched();
});

test.for(["", "../bob/memory", "MEMORY", "memory/"])("no capability opens the scope %j", expectScopeDenied);

test.for(["trash", "trash/", "trash/y.md", "Trash/y.md", "TRASH/y.md", "tRaSh", "trash/old.md"])(
  "a guest cannot write or move %s",
  async (path) => {
    expectCode(await ask("store_write", { scope: "memory", path, content: "x" }), denied);
    expectCode(await ask("store_trash", { scope: "memory", path }), denied);
    expectUntouched();
  },
);

test("control: files inside are read and listed, and the clock answers", async () => {
  const found = await ask("store_read", { scope: "memory", path: "x.md" });
  expect(found.ok && (found.data as string[])[0]).toContain("of alice");
  const list = await ask("store_list", { scope: "memory", prefix: "" });
  expect(list.ok && (list.data as string[])[0]).toContain('"MEMORY.md"');
  expect(await ask("clock_now", {})).toMatchObject({ ok: true, data: [expect.stringContaining("epochMs")] });
  expectUntouched();
});
