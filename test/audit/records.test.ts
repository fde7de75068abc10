/** One record for each call, whatever its outcome, and one for each operation of the owner; and what no record has. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { CallContext } from "memcell";
import { afterAll, beforeEach, expect, test } from "vitest";

import { auditLimits, callLimits, trailLimits } from "../../shared/limits.ts";
import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { userFolder } from "../support/user-files.ts";
import { ask, openAuditedStage, read, readRecords, upsert, write } from "./audited-stage.ts";

const lines: { text: string; callId: string }[] = [];
/** What a test does when a guest writes a line to the operator's log. */
let onLine = (): void => {};
const stage = await openAuditedStage({ onLog: ({ text, callId }) => (lines.push({ text, callId }), onLine()) });
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;
const { upkeep } = runtime;

/** A user and a call id that no other test has. */
let ctx: CallContext & { readonly userId: string; readonly callId: string };
beforeEach(() => {
  const userId = stage.user("user");
  ctx = { userId, callId: `of-${userId}` };
});

const puppet = (steps: unknown, more: Partial<CallContext> = {}) => runtime.call("Puppet", steps, { ...ctx, ...more });
const kinds = (): string[] => stage.records(ctx.userId).map(({ kind }) => kind);

test("a call that writes: the record has what it was granted, read and changed", async () => {
  await runtime.call("UpdateUserMemory", upsert("a"), ctx);
  const files = stage.filesOf(ctx.userId);
  const writes = ["a.md", "MEMORY.md"].map((path) => {
    return { scope: "memory", path, bytes: Buffer.byteLength(files[`memory/${path}`] ?? "") };
  });
  const anyPlace = { seq: expect.any(Number), time: expect.any(String), prev: expect.any(String) };
  const named = { ...anyPlace, ...ctx, tool: "UpdateUserMemory" };
  const changed = { writes, trashed: [], removed: [] };
  const sha256 = createHash("sha256")
    .update(readFileSync(shippedPlugin("user-memory")))
    .digest("hex");
  expect(stage.recordsOf("staged", ctx.callId)).toEqual([{ kind: "staged", ...named, ...changed }]);
  expect(stage.recordsOf("call", ctx.callId)).toEqual([
    {
      kind: "call",
      ...named,
      plugin: { name: "user-memory", version: "0.1.0", sha256 },
      scopes: ["memory"],
      rights: ["read", "list", "write", "trash", "clock"],
      reads: ["a.md", "MEMORY.md"].map((path) => ({ scope: "memory", path, bytes: null })),
      lists: [{ scope: "memory", prefix: "", files: 0 }],
      ...changed,
      history: [{ store: null, seq: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string }],
      usesNotShown: 0,
      usesDenied: 0,
      usesFailed: 0,
      changes: "committed",
      code: null,
      fuelPolls: expect.any(Number),
      durationMs: expect.any(Number),
    },
  ]);
  // The change set has its record before it is committed.
  expect(kinds()).toEqual(["staged", "call"]);
});

const large = "x".repeat(600_000);
test.for<{ name: string; tool?: unknown; input?: unknown; told?: object | undefined; code: string; record?: object }>([
  { name: "no such tool", tool: "Nothing", code: "TOOL_UNKNOWN", record: { tool: "Nothing" } },
  { name: "an invalid tool name", tool: "my secret", code: "TOOL_UNKNOWN", record: { tool: null } },
  { name: "a tool that is a number", tool: 7, code: "TOOL_UNKNOWN", record: { tool: null } },
  { name: "a host's tool", tool: "PromptIndex", code: "TOOL_UNKNOWN", record: { tool: "PromptIndex" } },
  { name: "no user", told: { userId: undefined }, code: "USER_REQUIRED", record: { userId: null } },
  { name: "an invalid user", told: { userId: "../bob" }, code: "USER_INVALID", record: { userId: null } },
  { name: "a user that is an object", told: { userId: {} }, code: "USER_INVALID", record: { userId: null } },
  { name: "no signal", told: { signal: 1 }, code: "INPUT_INVALID" },
  { name: "an aborted signal", told: { signal: AbortSignal.abort() }, code: "CANCELLED" },
  { name: "no input", input: undefined, code: "INPUT_INVALID" },
  { name: "too large an input", input: large, code: "INPUT_INVALID" },
  { name: "an input the tool refuses", input: {}, code: "INPUT_INVALID", record: { fuelPolls: 0 } },
])("records a call that ends early: $name", async ({ tool = "ReadUserMemory", told = {}, code, record, ...row }) => {
  const input = "input" in row ? row.input : { name: "a" };
  const result = await runtime.call(tool as string, input, { ...ctx, ...told });
  expect(result).toMatchObject({ ok: false, error: { code } });
  const expected = { tool: "ReadUserMemory", userId: ctx.userId, fuelPolls: null, ...record };
  expect(stage.recordsOf("call", ctx.callId)).toMatchObject([{ ...expected, code, changes: "none" }]);
});

test("records a call without a context", async () => {
  const before = stage.recordsOf("call").length;
  await runtime.call("ReadUserMemory", { name: "a" }, undefined as never);
  expect(stage.recordsOf("call").slice(before)).toMatchObject([{ userId: null, code: "USER_REQUIRED" }]);
});

test.for([
  { name: "empty", callId: "" },
  { name: "longer than allowed", callId: "x".repeat(callLimits.callIdCharsMax + 1) },
  { name: "with a line feed", callId: "a\nb" },
  { name: "beyond ASCII", callId: "é" },
  { name: "a number", callId: 7 },
  { name: "null", callId: null },
])("refuses a call id that is $name and records the call under another id", async ({ callId }) => {
  const result = await runtime.call("ReadUserMemory", { name: "a" }, { ...ctx, callId } as unknown as CallContext);
  expect(result).toMatchObject({ error: { code: "INPUT_INVALID", issues: [{ field: "ctx.callId" }] } });
  const told = { callId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/) as string, code: "INPUT_INVALID" };
  expect(stage.records(ctx.userId)).toMatchObject([told]);
});

test("lines of the operator's log have the call's id, and no guest learns it", async () => {
  const callId = "x".repeat(callLimits.callIdCharsMax);
  lines.length = 0;
  const result = await puppet([{ log: "hello", times: 1 }], { callId });
  expect(lines).toEqual([{ text: "hello", callId }]);
  expect(JSON.stringify(result)).not.toContain(callId);
  await runtime.call("Puppet", [{ log: "again", times: 1 }], { userId: ctx.userId });
  expect(lines[1]?.callId).toBe(stage.recordsOf("call").at(-1)?.callId);
});

test("records the user for whom the call was made, even if the context object answers differently each time", async () => {
  const users = [ctx.userId, "bob", "carol", "dave"];
  const turning = {
    callId: ctx.callId,
    get userId() {
      return users.shift() ?? "";
    },
  };
  await runtime.call("Puppet", [write("a.md", "x")], turning);
  expect(stage.recordsOf("call", ctx.callId)).toMatchObject([{ userId: ctx.userId, changes: "committed" }]);
  expect(Object.keys(stage.filesOf(ctx.userId))).toEqual(["memory/a.md"]);
  expect(users).toHaveLength(3);
});

test("records the index of a prompt like any other call, and a tool named with its plugin by the tool's name", async () => {
  await runtime.memoryIndex(ctx);
  await expect(runtime.memoryIndex({ ...ctx, userId: "" })).rejects.toMatchObject({ code: "USER_INVALID" });
  const named = ["user-memory/ListEntries", "user-memory/Nothing", "../ListEntries", "user-memory/a/b"];
  for (const tool of named) await runtime.callAsHost(tool, {}, ctx);
  const unknown = { tool: null, plugin: null, code: "TOOL_UNKNOWN" };
  expect(stage.recordsOf("call", ctx.callId)).toMatchObject([
    { tool: "PromptIndex", code: null },
    { tool: "PromptIndex", userId: null, code: "USER_INVALID" },
    { tool: "ListEntries", plugin: { name: "user-memory" }, code: null },
    unknown,
    unknown,
    unknown,
  ]);
});

test("records each use once for each path", async () => {
  await puppet([write("b.md", "1")]);
  const used = { ...ctx, callId: "used" };
  const list = ask("store_list", { scope: "memory", prefix: "b" });
  const trash = ask("store_trash", { scope: "memory", path: "a.md" });
  const steps = [read("a.md"), read("b.md"), read("a.md"), write("a.md", "four"), write("a.md", "fünf"), trash];
  await puppet([...steps, write("a.md", "x"), read("a.md"), list, ask("clock_now", {})], used);
  const file = { scope: "memory", path: "a.md" };
  const trashed = expect.stringMatching(/^trash\/a\.\d{8}T\d{9}Z\.md$/) as string;
  expect(stage.recordsOf("call", "used")).toMatchObject([
    {
      reads: [
        { ...file, bytes: 1 },
        { ...file, path: "b.md", bytes: 1 },
      ],
      lists: [{ scope: "memory", prefix: "b", files: 1 }],
      writes: [
        { ...file, bytes: 5 },
        { ...file, bytes: 1 },
      ],
      trashed: [{ ...file, bytes: 5, trashed }],
      usesDenied: 0,
    },
  ]);
});

const place = (scope: string | null, path: string | null): object => ({ scope, path });
test.for<readonly [name: string, request: string, named: object]>([
  ["of a scope that is not granted", '{"scope":"other","path":"a"}', place("other", "a")],
  ["that is not JSON", "{", place(null, null)],
  ["that is not an object", '["memory"]', place(null, null)],
  ["that is null", "null", place(null, null)],
  ["with numbers for names", '{"scope":1,"path":{}}', place(null, null)],
  ["with names of a prototype's properties", '{"__proto__":{"scope":"x","path":"y"}}', place(null, null)],
  ["with extra fields", '{"scope":"memory","path":"a","content":"x"}', place("memory", "a")],
  ["of a name beyond ASCII", '{"scope":"memory","path":"é💥\\n"}', place("memory", "é💥\n")],
  [
    "with longer names than are kept",
    JSON.stringify({ scope: "s".repeat(500), path: "p".repeat(500) }),
    place("s".repeat(auditLimits.namedCharsMax), "p".repeat(auditLimits.namedCharsMax)),
  ],
  [
    "with names that JSON writes as escapes",
    JSON.stringify({ scope: "\u0000".repeat(150), path: "\ud800".repeat(150) }),
    place("\u0000".repeat(auditLimits.namedCharsMax), "\ud800".repeat(auditLimits.namedCharsMax)),
  ],
])("records a denied request %s, and the changes that are dropped with it", async ([, request, named]) => {
  const denied = Array.from({ length: trailLimits.refusalsMax }, () => ({ of: "store_read", request }));
  await puppet([write("a.md", "four"), ...denied, { output: "{}" }]);
  const uses = stage.recordsOf("use", ctx.callId);
  expect(uses).toHaveLength(denied.length);
  expect(uses.at(-1)).toMatchObject({ capability: "store_read", code: "CAPABILITY_DENIED", ...named });
  expect(stage.recordsOf("call", ctx.callId)).toMatchObject([
    { writes: [{ path: "a.md", bytes: 4 }], usesDenied: denied.length, changes: "dropped", code: "CAPABILITY_DENIED" },
  ]);
  expect(stage.recordsOf("staged", ctx.callId)).toEqual([]);
});

test("records a failed use, also of a call that went on and succeeded", async () => {
  const steps = [{ writeLarge: { path: "big.md", characters: 3 * 2 ** 20 } }, write("a.md", "x")];
  expect(await puppet(steps)).toMatchObject({ ok: true });
  expect(stage.recordsOf("use", ctx.callId)).toMatchObject([{ code: "QUOTA_EXCEEDED", path: "big.md" }]);
  const told = { usesFailed: 1, usesDenied: 0, changes: "committed", writes: [{ path: "a.md" }] };
  expect(stage.recordsOf("call", ctx.callId)).toMatchObject([told]);
  expect(kinds()).toEqual(["use", "staged", "call"]);
});

test("records of two users' simultaneous calls do not mix", async () => {
  const users = [stage.user("one"), stage.user("two")];
  await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const userId = users[at % 2] ?? "";
      const steps = [read(`${userId}-${at}.md`), write(`${userId}-${at}.md`, userId)];
      await puppet(steps, { userId, callId: `${userId}-${at}` });
    }),
  );
  const calls = stage.recordsOf("call").filter(({ userId }) => users.includes(userId ?? ""));
  expect(calls).toHaveLength(40);
  for (const { callId, userId, reads, writes } of calls) {
    expect(callId.startsWith(`${userId}-`)).toBe(true);
    expect(reads).toEqual([{ scope: "memory", path: `${callId}.md`, bytes: null }]);
    expect(writes).toEqual([{ scope: "memory", path: `${callId}.md`, bytes: userId?.length }]);
  }
});

test("a call repeated because of a person's edit: one record, and each change set recorded before its commit", async () => {
  await puppet([write("a.md", "x")], { callId: "before" });
  onLine = () => {
    onLine = () => {};
    writeFileSync(join(userFolder(stage.dataDir, ctx.userId), "memory", "a.md"), "edited by hand");
  };
  await puppet([read("a.md"), write("a.md", "yy"), { log: "staged", times: 1 }]);
  const writes = [{ scope: "memory", path: "a.md", bytes: 2 }];
  expect(stage.recordsOf("staged", ctx.callId)).toMatchObject([{ writes }, { writes }]);
  const reads = [{ scope: "memory", path: "a.md", bytes: "edited by hand".length }];
  expect(stage.recordsOf("call", ctx.callId)).toMatchObject([{ reads, writes, changes: "committed", code: null }]);
});

const ofUpkeep = (userId: string): object[] =>
  stage.recordsOf("upkeep").flatMap(({ callId, action, code, removed, history, ...record }) => {
    return record.userId === userId ? [[callId, action, code, removed.length, history?.length]] : [];
  });

test("records upkeep operations and the tool calls that they make", async () => {
  const as = (callId: string): typeof ctx => ({ ...ctx, callId: `${ctx.userId}-${callId}` });
  for (const name of ["a", "b"]) await runtime.call("UpdateUserMemory", upsert(name), ctx);
  for (const name of ["a", "b"]) await runtime.call("UpdateUserMemory", { action: "delete", name }, ctx);
  await upkeep.restore(as("1"), "a");
  const [file] = await upkeep.purge(as("2"), { beforeEpochMs: 9e15 });
  await upkeep.inspect(as("3"));
  await upkeep.mend(as("4"));
  await upkeep.listTrash(as("5"));
  await expect(upkeep.listTrash({ ...as("6"), userId: "" })).rejects.toMatchObject({ code: "USER_INVALID" });
  const told = ["restore", "purge", "inspect", "mend", "listTrash"].map((action, at) => {
    return [as(`${at + 1}`).callId, action, null, action === "purge" ? 1 : 0];
  });
  expect(ofUpkeep(ctx.userId).map((each) => (each as unknown[]).slice(0, 4))).toEqual(told);
  expect(stage.recordsOf("upkeep").at(-1)).toMatchObject({ action: "listTrash", userId: null, code: "USER_INVALID" });
  const removed = [{ scope: "memory", path: `trash/${file?.name}`, bytes: file?.bytes }];
  const purged = { tool: null, userId: ctx.userId, writes: [], removed };
  expect(stage.recordsOf("staged", as("2").callId)).toMatchObject([purged]);
  const restored = { tool: "RestoreEntry", changes: "committed", removed: [{ scope: "memory" }] };
  expect(stage.recordsOf("call", as("1").callId)).toMatchObject([restored]);
  expect(stage.recordsOf("call", as("3").callId)).toMatchObject([{ tool: "InspectMemory", changes: "none" }]);
});

test("records what an undo and a restored version have changed, and that versions were compared", async () => {
  const as = (callId: string): typeof ctx => ({ ...ctx, callId: `${ctx.userId}-${callId}` });
  const run = `run-${ctx.userId}`;
  await runtime.call("UpdateUserMemory", upsert("a"), as("first"));
  await runtime.call("UpdateUserMemory", upsert("a", "evil"), {
    ...as("write"),
    origin: { class: "direct_user", run },
  });
  await upkeep.planUndo(as("plan"), { run });
  await upkeep.undo(as("undo"), { run });
  await upkeep.diff(as("diff"), "a", { from: 1, to: 2 });
  await upkeep.restoreVersion(as("restore"), "a", { version: 2 });
  await expect(upkeep.undo(as("unknown"), { run: "elsewhere" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  expect(ofUpkeep(ctx.userId)).toEqual([
    [as("plan").callId, "planUndo", null, 0, undefined],
    [as("undo").callId, "undo", null, 0, 1],
    [as("diff").callId, "diff", null, 0, undefined],
    [as("restore").callId, "restoreVersion", null, 0, 1],
    [as("unknown").callId, "undo", "ENTRY_NOT_FOUND", 0, undefined],
  ]);
  const staged = (each: string) =>
    stage.recordsOf("staged", as(each).callId).map(({ writes }) => writes.map(({ path }) => path));
  for (const each of ["undo", "restore"]) expect(staged(each)).toEqual([expect.arrayContaining(["a.md"])]);
  for (const each of ["plan", "diff", "unknown"]) expect(staged(each)).toEqual([]);
});

test("the log contains nothing that was written, described, answered, logged or denied", async () => {
  const marker = "MARKER-that-nobody-else-would-write";
  const entry = { ...upsert("a", `body ${marker}`), description: `description ${marker}` };
  await runtime.call("UpdateUserMemory", entry, ctx);
  await runtime.call("UpdateUserMemory", { ...entry, unknown: marker }, ctx);
  await runtime.call("ReadUserMemory", { name: "a" }, ctx);
  await runtime.memoryIndex(ctx);
  await puppet(marker);
  await runtime.call(marker, {}, ctx);
  await runtime.call("ReadUserMemory", {}, { userId: `../${marker}` });
  await runtime.call("ReadUserMemory", {}, { ...ctx, callId: `${marker}\n` });
  for (const step of [
    { log: marker, times: 1 },
    { fail: marker },
    { output: JSON.stringify({ ok: true, message: marker, data: marker }) },
    { output: marker },
    ask("store_write", { scope: "memory", path: "../a", content: marker }),
    ask("store_write", { scope: "memory", path: "a", content: marker, [marker]: marker }),
    { of: "store_write", request: marker },
  ]) {
    await puppet([step]);
  }
  await upkeep.inspect(ctx);
  const text = readFileSync(stage.logFile, "utf8");
  expect(stage.records(ctx.userId).length).toBeGreaterThan(15);
  expect(text).not.toContain(marker);
  expect(Object.values(stage.filesOf(ctx.userId)).join("")).toContain(marker);
});

test("records calls beyond the limit and calls made while closing", async () => {
  await using other = await openAuditedStage({ queuedCallsPerUserMax: 1 });
  const call = (callId?: string) => other.runtime.call("Puppet", [], { userId: "alice", ...(callId && { callId }) });
  const results = await Promise.all([call(), call(), call()]);
  const closing = other.runtime.close();
  const late = await call("late");
  await closing;
  const codes = [...results, late].map((result) => (result.ok ? null : result.error.code));
  expect(codes).toContain("BUSY");
  expect(codes.at(-1)).toBe("CLOSED");
  const recorded = other.recordsOf("call").map(({ code }) => code);
  expect(new Set(recorded)).toEqual(new Set(codes));
  expect(recorded).toHaveLength(codes.length);
  expect(other.records().at(-1)).toMatchObject({ kind: "closed" });
  // The log is closed: calls are refused and no longer recorded.
  expect(await call()).toMatchObject({ error: { code: "CLOSED" } });
});

test("what a call says about stores and grants has the fields, levels and reasons that the README shows", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "log", "audit.jsonl");
  const options = { dataDir: join(folder.path, "data"), plugins: ["stores"], threadsMax: 1, auditLog: { file } };
  const alice = { userId: "alice" };
  const sharing = await createRuntime(options);
  await sharing.stores({ userId: "bob" }).grant("alice", { level: "search" });
  await sharing.stores(alice).grant("carol", { level: "read" });
  await sharing.call("memory", { command: "view", path: "/memories/own.md" }, alice);
  for (const other of ["bob", "carol"]) {
    const path = `/memories/shared/${storeIdOf(other)}/`;
    await sharing.call("memory", { command: "search", path, query: "plan" }, alice);
  }
  await sharing.close();
  const records = readRecords(file).filter((record) => record.kind === "call" || record.kind === "upkeep");
  // oxlint-disable-next-line consistent-function-scoping -- belongs to this test alone
  const withoutIds = (each: object): object => ({ ...each, store: null, ...("grantee" in each && { grantee: null }) });
  const [shownStores, shownGrants] = blocksIn(textOf("host/audit/README.md"))
    .filter(({ language }) => language === "json")
    .map(({ text }) => JSON.parse(`{${text}}`) as { stores: { store: string }[]; granted: object[] });
  const stores = records.flatMap((record) => ("stores" in record ? (record.stores ?? []) : [])).map(withoutIds);
  for (const shown of shownStores?.stores ?? []) expect(stores).toContainEqual(withoutIds(shown));
  const granted = readRecords(file).flatMap((record) => ("granted" in record ? (record.granted ?? []) : []));
  expect(granted.map(withoutIds)).toContainEqual(withoutIds(shownGrants?.granted[0] ?? {}));
  expect(shownStores?.stores[0]?.store).toBe(`${storeIdOf("alice").slice(0, 9)}…`);
});
