/** How records name a call, and what no record ever contains. */
import { readFileSync } from "node:fs";

import type { CallContext } from "memcell";
import { expect, test } from "vitest";

import { callLimits } from "../../shared/limits.ts";
import { ask, openAuditedStage, upsert, write } from "./audited-stage.ts";

test.for([
  { name: "empty", callId: "" },
  { name: "longer than allowed", callId: "x".repeat(callLimits.callIdCharsMax + 1) },
  { name: "with a line feed", callId: "a\nb" },
  { name: "beyond ASCII", callId: "é" },
  { name: "a number", callId: 7 },
  { name: "null", callId: null },
])("refuses a call id that is $name and records the call under another id", async ({ callId }) => {
  await using stage = await openAuditedStage();
  const ctx = { userId: "alice", callId } as unknown as CallContext;
  const result = await stage.runtime.call("ReadUserMemory", { name: "a" }, ctx);
  expect(result).toMatchObject({ error: { code: "INPUT_INVALID", issues: [{ field: "ctx.callId" }] } });
  const [call] = stage.recordsOf("call");
  expect(call?.callId).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  expect(call).toMatchObject({ userId: "alice", code: "INPUT_INVALID" });
});

test("lines of the operator's log have the call's id, and no guest learns it", async () => {
  const lines: { text: string; callId: string }[] = [];
  await using stage = await openAuditedStage({ onLog: ({ text, callId }) => lines.push({ text, callId }) });
  const callId = "x".repeat(callLimits.callIdCharsMax);
  const result = await stage.runtime.call("Puppet", [{ log: "hello", times: 1 }], { userId: "alice", callId });
  expect(lines).toEqual([{ text: "hello", callId }]);
  expect(JSON.stringify(result)).not.toContain(callId);
  await stage.runtime.call("Puppet", [{ log: "again", times: 1 }], { userId: "alice" });
  expect(lines[1]?.callId).toBe(stage.recordsOf("call").at(-1)?.callId);
});

test("records the user for whom the call was made, even if the context object answers differently each time", async () => {
  await using stage = await openAuditedStage();
  const users = ["alice", "bob", "carol", "dave"];
  const ctx = {
    get userId(): string {
      return users.shift() ?? "";
    },
  };
  await stage.runtime.call("Puppet", [write("a.md", "x")], ctx);
  expect(stage.recordsOf("call")).toMatchObject([{ userId: "alice", changes: "committed" }]);
  expect(Object.keys(stage.filesOf("alice"))).toEqual(["memory/a.md"]);
  expect(users).toHaveLength(3);
});

test("the log contains nothing that was written, described, answered, logged or denied", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  const marker = "MARKER-that-nobody-else-would-write";
  const entry = { ...upsert("a", `body ${marker}`), description: `description ${marker}` };
  const ctx = { userId: "alice" };
  await runtime.call("UpdateUserMemory", entry, ctx);
  await runtime.call("UpdateUserMemory", { ...entry, unknown: marker }, ctx);
  await runtime.call("ReadUserMemory", { name: "a" }, ctx);
  await runtime.memoryIndex(ctx);
  await runtime.call("Puppet", marker, ctx);
  await runtime.call(marker, {}, ctx);
  await runtime.call("ReadUserMemory", {}, { userId: `../${marker}` });
  await runtime.call("ReadUserMemory", {}, { userId: "alice", callId: `${marker}\n` });
  for (const step of [
    { log: marker, times: 1 },
    { fail: marker },
    { output: JSON.stringify({ ok: true, message: marker, data: marker }) },
    { output: marker },
    ask("store_write", { scope: "memory", path: "../a", content: marker }),
    ask("store_write", { scope: "memory", path: "a", content: marker, [marker]: marker }),
    { of: "store_write", request: marker },
  ]) {
    await runtime.call("Puppet", [step], ctx);
  }
  await runtime.upkeep.inspect(ctx);
  await runtime.close();
  const text = readFileSync(stage.logFile, "utf8");
  expect(text.split("\n").length).toBeGreaterThan(15);
  expect(text).not.toContain(marker);
  // The user's files did contain the marker.
  expect(Object.values(stage.filesOf("alice")).join("")).toContain(marker);
});
