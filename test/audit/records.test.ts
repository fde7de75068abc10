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

const ofUuid = { callId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/) as string };
const invalid = "INPUT_INVALID";
const notThere = { fuelPolls: null, tool: "ReadUserMemory" };
test.for<
  readonly [name: string, call: { tool?: unknown; input?: unknown }, told: object, code: string, record: object]
>([
  ["no such tool", { tool: "Nothing" }, {}, "TOOL_UNKNOWN", { tool: "Nothing" }],
  ["an invalid tool name", { tool: "my secret" }, {}, "TOOL_UNKNOWN", { tool: null }],
  ["no user", {}, { userId: undefined }, "USER_REQUIRED", { userId: null }],
  ["an invalid user", {}, { userId: "../bob" }, "USER_INVALID", { userId: null }],
  ["an aborted signal", {}, { signal: AbortSignal.abort() }, "CANCELLED", {}],
  ["too large an input", { input: "x".repeat(600_000) }, {}, invalid, {}],
  ["an input the tool refuses", { input: {} }, {}, invalid, { fuelPolls: 0 }],
  // Recorded under another id.
  ["a long call id", {}, { callId: "x".repeat(callLimits.callIdCharsMax + 1) }, invalid, ofUuid],
  ["a call id of two lines", {}, { callId: "a\nb" }, invalid, ofUuid],
])("records a call that ends early: %s", async ([, call, told, code, record]) => {
  const before = stage.recordsOf("call").length;
  const { tool, input } = { tool: "ReadUserMemory", input: { name: "a" }, ...call };
  const result = await runtime.call(tool as string, input, { ...ctx, ...told });
  expect(result).toMatchObject({ ok: false, error: { code } });
  const expected = { ...notThere, userId: ctx.userId, changes: "none", code, ...record };
  expect(stage.recordsOf("call").slice(before)).toMatchObject([expected]);
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
  for (const tool of ["user-memory/ListEntries", "../ListEntries"]) await runtime.callAsHost(tool, {}, ctx);
  expect(stage.recordsOf("call", ctx.callId)).toMatchObject([
    { tool: "PromptIndex", code: null },
    { tool: "PromptIndex", userId: null, code: "USER_INVALID" },
    { tool: "ListEntries", plugin: { name: "user-memory" }, code: null },
    { tool: null, plugin: null, code: "TOOL_UNKNOWN" },
  ]);
});

test("records each use once for each path", async () => {
  await puppet([write("b.md", "1")]);
  const list = ask("store_list", { scope: "memory", prefix: "b" });
  const trash = ask("store_trash", { scope: "memory", path: "a.md" });
  const steps = [read("a.md"), read("b.md"), read("a.md"), write("a.md", "four"), write("a.md", "fünf"), trash];
  await puppet([...steps, write("a.md", "x"), read("a.md"), list, ask("clock_now", {})], { callId: "used" });
  const file = { scope: "memory", path: "a.md" };
  const [one, five] = [
    { ...file, bytes: 1 },
    { ...file, bytes: 5 },
  ];
  const trashed = expect.stringMatching(/^trash\/a\.\d{8}T\d{9}Z\.md$/) as string;
  expect(stage.recordsOf("call", "used")).toMatchObject([
    {
      reads: [one, { ...file, path: "b.md", bytes: 1 }],
      lists: [{ scope: "memory", prefix: "b", files: 1 }],
      writes: [five, one],
      trashed: [{ ...five, trashed }],
      usesDenied: 0,
    },
  ]);
});

const place = (scope: string | null, path: string | null): object => ({ scope, path });
const { namedCharsMax } = auditLimits;
test.for<readonly [name: string, request: string, named: object]>([
  ["of a scope that is not granted", '{"scope":"other","path":"a"}', place("other", "a")],
  ["that is not JSON", "{", place(null, null)],
  ["with numbers for names", '{"scope":1,"path":{}}', place(null, null)],
  [
    "with longer names than are kept, which JSON writes as escapes",
    JSON.stringify({ scope: "\u0000".repeat(150), path: "\ud800".repeat(150) }),
    place("\u0000".repeat(namedCharsMax), "\ud800".repeat(namedCharsMax)),
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
  const ofCall = Array.from({ length: 20 }, (_, at) => ({ userId: users[at % 2] ?? "", callId: `mixed-${at}` }));
  await Promise.all(
    ofCall.map((each) => puppet([read(`${each.callId}.md`), write(`${each.callId}.md`, each.userId)], each)),
  );
  const calls = stage.recordsOf("call").filter(({ userId }) => users.includes(userId ?? ""));
  expect(calls).toHaveLength(ofCall.length);
  for (const { callId, userId, reads, writes } of calls) {
    expect(ofCall).toContainEqual({ userId, callId });
    const file = { scope: "memory", path: `${callId}.md` };
    expect({ reads, writes }).toEqual({
      reads: [{ ...file, bytes: null }],
      writes: [{ ...file, bytes: userId?.length }],
    });
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

test("records upkeep operations, the tool calls that they make, and what an undo has changed", async () => {
  const as = (callId: string): typeof ctx => ({ ...ctx, callId: `${ctx.userId}-${callId}` });
  const run = `run-${ctx.userId}`;
  for (const name of ["a", "b"]) await runtime.call("UpdateUserMemory", upsert(name), ctx);
  for (const name of ["a", "b"]) await runtime.call("UpdateUserMemory", { action: "delete", name }, ctx);
  await upkeep.restore(as("restore"), "a");
  const [file] = await upkeep.purge(as("purge"), { beforeEpochMs: 9e15 });
  await upkeep.inspect(as("inspect"));
  await upkeep.mend(as("mend"));
  await upkeep.listTrash(as("listTrash"));
  const origin = { class: "direct_user", run } as const;
  await runtime.call("UpdateUserMemory", upsert("a", "evil"), { ...as("write"), origin });
  await upkeep.planUndo(as("planUndo"), { run });
  await upkeep.undo(as("undo"), { run });
  const [from = 0, to = 0] = ["restore", "write"].map((each) => {
    return stage.recordsOf("call", as(each).callId)[0]?.history?.[0]?.seq;
  });
  await upkeep.diff(as("diff"), "a", { from, to });
  await upkeep.restoreVersion(as("restoreVersion"), "a", { version: to });
  await expect(upkeep.undo(as("unknown"), { run: "elsewhere" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  await expect(upkeep.listTrash({ ...ctx, userId: "" })).rejects.toMatchObject({ code: "USER_INVALID" });
  const names = ["restore", "purge", "inspect", "mend", "listTrash", "planUndo", "undo", "diff", "restoreVersion"];
  const removed = [{ scope: "memory", path: `trash/${file?.name}`, bytes: file?.bytes }];
  const changing = ["undo", "restoreVersion"];
  const ofUser = stage.recordsOf("upkeep").filter(({ userId }) => userId === ctx.userId);
  expect(ofUser).toMatchObject([
    ...names.map((action) => {
      return { callId: as(action).callId, action, code: null, removed: action === "purge" ? removed : [] };
    }),
    { callId: as("unknown").callId, action: "undo", code: "ENTRY_NOT_FOUND", removed: [] },
  ]);
  expect(stage.recordsOf("upkeep").at(-1)).toMatchObject({ action: "listTrash", userId: null, code: "USER_INVALID" });
  const purged = { tool: null, userId: ctx.userId, writes: [], removed };
  expect(stage.recordsOf("staged", as("purge").callId)).toMatchObject([purged]);
  for (const action of changing) {
    expect(ofUser.find((each) => each.action === action)?.history).toMatchObject([{ store: null }]);
    const [staged] = stage.recordsOf("staged", as(action).callId);
    expect(staged?.writes.map(({ path }) => path)).toContain("a.md");
  }
  for (const each of ["planUndo", "diff", "unknown"]) expect(stage.recordsOf("staged", as(each).callId)).toEqual([]);
  const restored = { tool: "RestoreEntry", changes: "committed", removed: [{ scope: "memory" }] };
  expect(stage.recordsOf("call", as("restore").callId)).toMatchObject([restored]);
  expect(stage.recordsOf("call", as("inspect").callId)).toMatchObject([{ tool: "InspectMemory", changes: "none" }]);
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
  expect(stage.records(ctx.userId).length).toBeGreaterThan(15);
  expect(readFileSync(stage.logFile, "utf8")).not.toContain(marker);
  expect(Object.values(stage.filesOf(ctx.userId)).join("")).toContain(marker);
});

test("records calls beyond the limit and calls made while closing", async () => {
  await using other = await openAuditedStage({ queuedCallsPerUserMax: 1 });
  const call = () => other.runtime.call("Puppet", [], { userId: "alice" });
  const results = await Promise.all([call(), call(), call()]);
  const closing = other.runtime.close();
  const late = await call();
  await closing;
  const codes = [...results, late].map((result) => (result.ok ? null : result.error.code));
  expect(codes).toContain("BUSY");
  expect(codes.at(-1)).toBe("CLOSED");
  const recorded = other.recordsOf("call").map(({ code }) => code);
  expect(recorded).toHaveLength(codes.length);
  expect(new Set(recorded)).toEqual(new Set(codes));
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
  const records = readRecords(file);
  // oxlint-disable-next-line consistent-function-scoping -- belongs to this test alone
  const withoutIds = (each: object): object => ({ ...each, store: null, ...("grantee" in each && { grantee: null }) });
  const shown = blocksIn(textOf("host/audit/README.md"))
    .filter(({ language }) => language === "json")
    .map(({ text }) => JSON.parse(`{${text}}`) as { stores?: { store: string }[]; granted?: object[] });
  for (const part of ["stores", "granted"] as const) {
    const told = records.flatMap((record) => (part in record ? ((record as (typeof shown)[0])[part] ?? []) : []));
    const wanted = shown.flatMap((each) => each[part] ?? []);
    expect(wanted.length).toBeGreaterThan(0);
    expect(told.map(withoutIds)).toEqual(expect.arrayContaining(wanted.map(withoutIds)));
  }
  expect(shown[0]?.stores?.[0]?.store).toBe(`${storeIdOf("alice").slice(0, 9)}…`);
});
