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

const { recordUsesMax, namedCharsMax } = auditLimits;
const { refusalsMax } = trailLimits;
const times = <Item>(count: number, item: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => item(at));
const a = { scope: "memory", path: "a.md" };
const inTrash = expect.stringMatching(/^trash\/a\.\d{8}T\d{9}Z\.md$/) as string;
const wasStaged = { kind: "staged" };
const committed = { kind: "call", usesDenied: 0, changes: "committed", code: null };
const denied = { kind: "use", capability: "store_read", code: "CAPABILITY_DENIED" };
const floodCount = callLimits.hostCallsMax + 500;

/** A guest that writes a file, and then makes as many requests as are recorded. */
const afterDenials = (how: string, request: string, told: object) =>
  [
    `a denied request ${how}, and the changes that are dropped with it`,
    [write("a.md", "four"), ...times(refusalsMax, () => ({ of: "store_read", request })), { output: "{}" }],
    ...times(refusalsMax, () => ({ ...denied, ...told })),
    { writes: [{ path: "a.md", bytes: 4 }], usesDenied: refusalsMax, changes: "dropped", code: "CAPABILITY_DENIED" },
  ] as const;

/** What a guest does, and the records that it leaves. */
test.for<readonly [name: string, steps: readonly object[], ...records: object[]]>([
  [
    "each use once for each path",
    [
      [read("a.md"), read("b.md"), read("a.md"), write("a.md", "four"), write("a.md", "fünf")],
      [ask("store_trash", a), write("a.md", "x"), read("a.md")],
      [ask("store_list", { scope: "memory", prefix: "a" }), ask("clock_now", {})],
    ].flat(),
    wasStaged,
    {
      ...committed,
      reads: [
        { ...a, bytes: 1 },
        { ...a, path: "b.md", bytes: null },
      ],
      lists: [{ scope: "memory", prefix: "a", files: 1 }],
      writes: [
        { ...a, bytes: 5 },
        { ...a, bytes: 1 },
      ],
      trashed: [{ ...a, bytes: 5, trashed: inTrash }],
    },
  ],
  afterDenials("of a scope that is not granted", '{"scope":"other","path":"a"}', { scope: "other", path: "a" }),
  afterDenials("that is not JSON", "{", { scope: null, path: null }),
  afterDenials("with numbers for names", '{"scope":1,"path":{}}', { scope: null, path: null }),
  afterDenials(
    "with longer names than are kept, which JSON writes as escapes",
    JSON.stringify({ scope: "\u0000".repeat(150), path: "\ud800".repeat(150) }),
    { scope: "\u0000".repeat(namedCharsMax), path: "\ud800".repeat(namedCharsMax) },
  ),
  [
    "a failed use, also of a call that goes on and succeeds",
    [{ writeLarge: { path: "big.md", characters: 3 * 2 ** 20 } }, write("a.md", "x")],
    { kind: "use", code: "QUOTA_EXCEEDED", path: "big.md" },
    wasStaged,
    { ...committed, usesFailed: 1, writes: [{ path: "a.md" }] },
  ],
  [
    "the first of a flood of denied requests, and the number of all",
    times(floodCount, () => ({ of: "store_read", request: "{}" })),
    ...times(refusalsMax, () => denied),
    { usesDenied: floodCount, usesNotShown: floodCount - refusalsMax, usesFailed: 0, code: "CAPABILITY_DENIED" },
  ],
  [
    "a denied use behind more reads than have room",
    [...times(recordUsesMax + 100, (at) => read(`f${at}`)), ask("store_trash", { scope: "other", path: "f0" })],
    { kind: "use", capability: "store_trash", scope: "other", path: "f0" },
    { reads: times(recordUsesMax, (at) => ({ path: `f${at}` })), usesNotShown: 100, usesDenied: 1 },
  ],
])("records %s", async ([, steps, ...records]) => {
  await puppet(steps);
  expect(stage.records(ctx.userId)).toMatchObject(records);
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
  for (const each of ["inspect", "mend", "listTrash"] as const) await upkeep[each](as(each));
  const origin = { class: "direct_user", run } as const;
  await runtime.call("UpdateUserMemory", upsert("a", "evil"), { ...as("write"), origin });
  await upkeep.planUndo(as("planUndo"), { run });
  await upkeep.undo(as("undo"), { run });
  const [from = 0, to = 0] = ["restore", "write"].map((each) => {
    const records = [...stage.recordsOf("call", as(each).callId), ...stage.recordsOf("upkeep", as(each).callId)];
    return records.find((record) => record.history !== undefined)?.history?.[0]?.seq;
  });
  await upkeep.diff(as("diff"), "a", { from, to });
  await upkeep.restoreVersion(as("restoreVersion"), "a", { version: to });
  await expect(upkeep.undo(as("unknown"), { run: "elsewhere" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  await expect(upkeep.listTrash({ ...ctx, userId: "" })).rejects.toMatchObject({ code: "USER_INVALID" });
  const removed = [{ scope: "memory", path: `trash/${file?.name}`, bytes: file?.bytes }];
  const history = [{ store: null }];
  const operation = (action: string, more: object = {}): object => {
    return { kind: "upkeep", callId: as(action).callId, action, code: null, removed: [], ...more };
  };
  const staged = { kind: "staged", tool: null, writes: [], removed: [] };
  const changes = { writes: expect.arrayContaining([expect.objectContaining({ path: "a.md" })]) as object[] };
  const records = stage
    .records(ctx.userId)
    .filter(({ kind, ...each }) => "callId" in each && each.callId !== ctx.callId && kind !== "call");
  expect(records).toMatchObject([
    { ...staged, ...changes, removed: [{ scope: "memory" }] },
    operation("restore", { history, removed: [{ scope: "memory" }] }),
    { ...staged, removed },
    operation("purge", { removed }),
    ...["inspect", "mend", "listTrash"].map((each) => operation(each)),
    { ...staged, tool: "UpdateUserMemory", ...changes },
    operation("planUndo"),
    { ...staged, ...changes },
    operation("undo", { history }),
    operation("diff"),
    { ...staged, ...changes },
    operation("restoreVersion", { history }),
    operation("unknown", { action: "undo", code: "ENTRY_NOT_FOUND" }),
  ]);
  expect(stage.recordsOf("upkeep").at(-1)).toMatchObject({ action: "listTrash", userId: null, code: "USER_INVALID" });
  expect(stage.recordsOf("call", as("inspect").callId)).toMatchObject([{ tool: "InspectMemory", changes: "none" }]);
  // Its plugin is asked what it would write, and the operation commits it.
  expect(stage.recordsOf("call", as("restore").callId)).toMatchObject([{ tool: "RestoreEntry", changes: "dropped" }]);
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
