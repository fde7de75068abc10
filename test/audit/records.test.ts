/** One record for each call, whatever its outcome, and one for each upkeep operation. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { CallContext } from "memcell";
import { expect, test } from "vitest";

import { shippedPlugin } from "../support/test-plugin.ts";
import { userFolder } from "../support/user-files.ts";
import { ask, openAuditedStage, read, upsert, write } from "./audited-stage.ts";

test("a call that writes: the record has what it was granted, read and changed", async () => {
  await using stage = await openAuditedStage();
  await stage.runtime.call("UpdateUserMemory", upsert("a"), { userId: "alice", callId: "c1" });
  const sizes = Object.fromEntries(
    Object.entries(stage.filesOf("alice")).map(([path, text]) => [
      path.slice("memory/".length),
      Buffer.byteLength(text),
    ]),
  );
  const writes = ["a.md", "MEMORY.md"].map((path) => ({ scope: "memory", path, bytes: sizes[path] }));
  const named = { callId: "c1", userId: "alice", tool: "UpdateUserMemory" };
  const changed = { writes, trashed: [], removed: [] };
  const file = readFileSync(shippedPlugin("user-memory"));
  expect(stage.recordsOf("staged", "c1")).toEqual([{ ...anyPlace, kind: "staged", ...named, ...changed }]);
  expect(stage.recordsOf("call", "c1")).toEqual([
    {
      ...anyPlace,
      kind: "call",
      ...named,
      plugin: { name: "user-memory", version: "0.1.0", sha256: createHash("sha256").update(file).digest("hex") },
      scopes: ["memory"],
      rights: ["read", "list", "write", "trash", "clock"],
      reads: [
        { scope: "memory", path: "a.md", bytes: null },
        { scope: "memory", path: "MEMORY.md", bytes: null },
      ],
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
});

const anyPlace = { seq: expect.any(Number), time: expect.any(String), prev: expect.any(String) };

test("records a change set before its commit, and the call afterwards", async () => {
  await using stage = await openAuditedStage();
  for (const name of ["a", "b"]) await stage.runtime.call("UpdateUserMemory", upsert(name), { userId: "alice" });
  expect(stage.records().map(({ kind }) => kind)).toEqual(["opened", "staged", "call", "staged", "call"]);
});

test.for([
  { name: "no such tool", tool: "Nothing", ctx: { userId: "alice" }, code: "TOOL_UNKNOWN", toolName: "Nothing" },
  { name: "an invalid tool name", tool: "my secret", ctx: { userId: "alice" }, code: "TOOL_UNKNOWN", toolName: null },
  { name: "a tool that is a number", tool: 7, ctx: { userId: "alice" }, code: "TOOL_UNKNOWN", toolName: null },
  { name: "a host's tool", tool: "PromptIndex", ctx: { userId: "alice" }, code: "TOOL_UNKNOWN" },
  { name: "no context", ctx: undefined, code: "USER_REQUIRED", userId: null },
  { name: "no user", ctx: {}, code: "USER_REQUIRED", userId: null },
  { name: "an invalid user", ctx: { userId: "../bob" }, code: "USER_INVALID", userId: null },
  { name: "a user that is an object", ctx: { userId: {} }, code: "USER_INVALID", userId: null },
  { name: "no signal", ctx: { userId: "alice", signal: 1 }, code: "INPUT_INVALID" },
  { name: "an aborted signal", ctx: { userId: "alice", signal: AbortSignal.abort() }, code: "CANCELLED" },
  { name: "no input", input: undefined, ctx: { userId: "alice" }, code: "INPUT_INVALID" },
  { name: "too large an input", input: "x".repeat(600_000), ctx: { userId: "alice" }, code: "INPUT_INVALID" },
  { name: "an input the tool refuses", input: {}, ctx: { userId: "alice" }, code: "INPUT_INVALID", fuelPolls: 0 },
])("records a call that ends early: $name", async ({ tool, ctx, code, ...row }) => {
  await using stage = await openAuditedStage();
  const input = "input" in row ? row.input : { name: "a" };
  const result = await stage.runtime.call((tool ?? "ReadUserMemory") as string, input, ctx as CallContext);
  expect(result).toMatchObject({ ok: false, error: { code } });
  const expected = { toolName: tool ?? "ReadUserMemory", userId: "alice", fuelPolls: null, ...row };
  expect(stage.recordsOf("call")).toMatchObject([
    { tool: expected.toolName, userId: expected.userId, code, changes: "none", fuelPolls: expected.fuelPolls },
  ]);
});

test("records calls beyond the limit and calls made while closing", async () => {
  await using stage = await openAuditedStage({ queuedCallsPerUserMax: 1 });
  const { runtime } = stage;
  const results = await Promise.all([1, 2, 3].map(() => runtime.call("Puppet", [], { userId: "alice" })));
  const closing = runtime.close();
  const late = await runtime.call("Puppet", [], { userId: "alice", callId: "late" });
  await closing;
  const codes = [...results, late].map((result) => (result.ok ? null : result.error.code));
  expect(codes).toContain("BUSY");
  expect(codes.at(-1)).toBe("CLOSED");
  const recorded = stage.recordsOf("call").map(({ code }) => code);
  expect(new Set(recorded)).toEqual(new Set(codes));
  expect(recorded).toHaveLength(codes.length);
  expect(stage.records().at(-1)).toMatchObject({ kind: "closed" });
  // The log is closed: calls are refused and no longer recorded.
  expect(await runtime.call("Puppet", [], { userId: "alice" })).toMatchObject({ error: { code: "CLOSED" } });
});

test("records the index of a prompt like any other call", async () => {
  await using stage = await openAuditedStage();
  await stage.runtime.memoryIndex({ userId: "alice", callId: "index" });
  expect(stage.recordsOf("call", "index")).toMatchObject([{ tool: "PromptIndex", userId: "alice", code: null }]);
  await expect(stage.runtime.memoryIndex({ userId: "" })).rejects.toMatchObject({ code: "USER_INVALID" });
  expect(stage.recordsOf("call").at(-1)).toMatchObject({ tool: "PromptIndex", code: "USER_INVALID" });
});

test("records a tool that is named with its plugin by the tool's name", async () => {
  await using stage = await openAuditedStage();
  const named = ["user-memory/ListEntries", "user-memory/Nothing", "../ListEntries", "user-memory/a/b"];
  for (const tool of named) await stage.runtime.callAsHost(tool, {}, { userId: "alice" });
  expect(stage.recordsOf("call")).toMatchObject([
    { tool: "ListEntries", plugin: { name: "user-memory" }, code: null },
    { tool: null, plugin: null, code: "TOOL_UNKNOWN" },
    { tool: null, plugin: null, code: "TOOL_UNKNOWN" },
    { tool: null, plugin: null, code: "TOOL_UNKNOWN" },
  ]);
});

test("a call with a denied use changes nothing, and its record shows the dropped changes", async () => {
  await using stage = await openAuditedStage();
  const steps = [write("a.md", "four"), ask("store_read", { scope: "memory", path: "../b" }), { output: "{}" }];
  await stage.runtime.call("Puppet", steps, { userId: "alice", callId: "denied" });
  expect(stage.recordsOf("call", "denied")).toMatchObject([
    {
      writes: [{ scope: "memory", path: "a.md", bytes: 4 }],
      usesDenied: 1,
      changes: "dropped",
      code: "CAPABILITY_DENIED",
    },
  ]);
  expect(stage.recordsOf("staged")).toEqual([]);
  expect(stage.recordsOf("use", "denied")).toMatchObject([{ capability: "store_read", path: "../b" }]);
});

test("records a failed use, also of a call that went on and succeeded", async () => {
  await using stage = await openAuditedStage();
  const steps = [{ writeLarge: { path: "big.md", characters: 3 * 2 ** 20 } }, write("a.md", "x")];
  const result = await stage.runtime.call("Puppet", steps, { userId: "alice", callId: "failed" });
  expect(result).toMatchObject({ ok: true });
  expect(stage.recordsOf("use", "failed")).toMatchObject([{ code: "QUOTA_EXCEEDED", path: "big.md" }]);
  expect(stage.recordsOf("call", "failed")).toMatchObject([{ usesFailed: 1, usesDenied: 0, changes: "committed" }]);
  expect(stage.records().map(({ kind }) => kind)).toEqual(["opened", "use", "staged", "call"]);
});

test("records of two users' simultaneous calls do not mix", async () => {
  await using stage = await openAuditedStage();
  const users = ["alice", "bob"];
  await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const userId = users[at % 2] ?? "";
      const steps = [read(`${userId}-${at}.md`), write(`${userId}-${at}.md`, userId)];
      await stage.runtime.call("Puppet", steps, { userId, callId: `${userId}-${at}` });
    }),
  );
  const calls = stage.recordsOf("call");
  expect(calls).toHaveLength(40);
  for (const { callId, userId, reads, writes } of calls) {
    expect(callId.startsWith(`${userId}-`)).toBe(true);
    expect(reads).toEqual([{ scope: "memory", path: `${callId}.md`, bytes: null }]);
    expect(writes).toEqual([{ scope: "memory", path: `${callId}.md`, bytes: userId?.length }]);
  }
});

test("a call repeated because of a person's edit: one call record, and each change set recorded before its commit", async () => {
  let edits = 1;
  const edit = (): void => {
    if (edits-- > 0) writeFileSync(join(userFolder(stage.dataDir, "alice"), "memory", "a.md"), "edited by hand");
  };
  await using stage = await openAuditedStage({ onLog: edit });
  await stage.runtime.call("Puppet", [write("a.md", "x")], { userId: "alice" });
  const steps = [read("a.md"), write("a.md", "yy"), { log: "staged", times: 1 }];
  const result = await stage.runtime.call("Puppet", steps, { userId: "alice", callId: "again" });
  expect(result).toMatchObject({ ok: true });
  const writes = [{ scope: "memory", path: "a.md", bytes: 2 }];
  expect(stage.recordsOf("staged", "again")).toMatchObject([{ writes }, { writes }]);
  const reads = [{ scope: "memory", path: "a.md", bytes: "edited by hand".length }];
  expect(stage.recordsOf("call", "again")).toMatchObject([{ reads, writes, changes: "committed", code: null }]);
});

test("records upkeep operations and the tool calls that they make", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  const { upkeep } = runtime;
  for (const name of ["a", "b"]) await runtime.call("UpdateUserMemory", upsert(name), { userId: "alice" });
  for (const name of ["a", "b"]) {
    await runtime.call("UpdateUserMemory", { action: "delete", name }, { userId: "alice" });
  }
  await upkeep.restore({ userId: "alice", callId: "op-1" }, "a");
  const purged = await upkeep.purge({ userId: "alice", callId: "op-2" }, { beforeEpochMs: 9e15 });
  await upkeep.inspect({ userId: "alice", callId: "op-3" });
  await upkeep.mend({ userId: "alice", callId: "op-4" });
  await upkeep.listTrash({ userId: "alice", callId: "op-5" });
  await expect(upkeep.listTrash({ userId: "", callId: "op-6" })).rejects.toMatchObject({ code: "USER_INVALID" });
  const [file] = purged;
  const removed = [{ scope: "memory", path: `trash/${file?.name}`, bytes: file?.bytes }];
  expect(stage.recordsOf("upkeep")).toMatchObject([
    { action: "restore", callId: "op-1", userId: "alice", removed: [], code: null },
    { action: "purge", callId: "op-2", removed, code: null },
    { action: "inspect", callId: "op-3", removed: [], code: null },
    { action: "mend", callId: "op-4", removed: [], code: null },
    { action: "listTrash", callId: "op-5", removed: [], code: null },
    { action: "listTrash", callId: "op-6", userId: null, code: "USER_INVALID" },
  ]);
  expect(stage.recordsOf("staged", "op-2")).toMatchObject([{ tool: null, userId: "alice", writes: [], removed }]);
  expect(stage.recordsOf("call", "op-1")).toMatchObject([
    { tool: "RestoreEntry", changes: "committed", removed: [{ scope: "memory" }] },
  ]);
  expect(stage.recordsOf("call", "op-3")).toMatchObject([{ tool: "InspectMemory", changes: "none" }]);
});
