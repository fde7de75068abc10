/** A guest's actions are on record even if its thread is killed or it floods the host. */
import { expect, test } from "vitest";

import { auditLimits, callLimits, trailLimits } from "../../shared/limits.ts";
import { burning } from "../bounds/bounded-stage.ts";
import { ask, openAuditedStage, read, write } from "./audited-stage.ts";

test("records a denied capability of a guest that then loops until its thread is killed", async () => {
  await using stage = await openAuditedStage({ deadlineMs: 3_000 });
  await stage.runtime.call("Puppet", [write("a.md", "of alice")], { userId: "alice" });
  const result = await stage.runtime.call("Lurk", {}, { userId: "alice", callId: "killed" });
  expect(result).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
  expect(stage.recordsOf("use", "killed")).toMatchObject([
    { tool: "Lurk", capability: "store_read", scope: "others", path: "b.md", code: "CAPABILITY_DENIED" },
  ]);
  expect(stage.recordsOf("call", "killed")).toMatchObject([
    {
      reads: [{ scope: "memory", path: "a.md", bytes: 8 }],
      usesDenied: 1,
      changes: "none",
      code: "DEADLINE_EXCEEDED",
      fuelPolls: null,
    },
  ]);
});

test("records the staged changes of a killed guest as dropped", async () => {
  await using stage = await openAuditedStage({ deadlineMs: 3_000 });
  await stage.runtime.call("Spin", {}, { userId: "alice", callId: "killed" });
  expect(stage.recordsOf("call", "killed")).toMatchObject([
    { tool: "Spin", writes: [{ scope: "memory", path: "spun.md" }], changes: "dropped", code: "DEADLINE_EXCEEDED" },
  ]);
  expect(stage.recordsOf("staged", "killed")).toEqual([]);
  expect(stage.filesOf("alice")).toEqual({});
});

test("records a cancelled guest's denial", async () => {
  const controller = new AbortController();
  await using stage = await openAuditedStage();
  await stage.runtime.call("Puppet", [], { userId: "alice" });
  const ctx = { userId: "alice", callId: "cancelled", signal: controller.signal };
  const running = stage.runtime.call("Puppet", [ask("store_read", { scope: "../x", path: "y" }), { spin: true }], ctx);
  await burning();
  controller.abort();
  expect(await running).toMatchObject({ error: { code: "CANCELLED" } });
  expect(stage.recordsOf("use", "cancelled")).toMatchObject([{ scope: "../x", path: "y" }]);
  expect(stage.recordsOf("call", "cancelled")).toMatchObject([{ code: "CANCELLED", usesDenied: 1 }]);
});

test("counts a flood of denied requests and records the first of them", async () => {
  await using stage = await openAuditedStage();
  const flood = Array.from({ length: callLimits.hostCallsMax + 500 }, () => ({ of: "store_read", request: "{}" }));
  const result = await stage.runtime.call("Puppet", flood, { userId: "alice", callId: "flood" });
  expect(result).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
  const uses = stage.recordsOf("use", "flood");
  expect(uses).toHaveLength(trailLimits.refusalsMax);
  expect(uses[0]).toMatchObject({ capability: "store_read", scope: null, path: null, code: "CAPABILITY_DENIED" });
  expect(stage.recordsOf("call", "flood")).toMatchObject([
    { usesDenied: flood.length, usesNotShown: flood.length - trailLimits.refusalsMax, usesFailed: 0 },
  ]);
});

test("a guest cannot hide its denied use by filling the trail first", async () => {
  await using stage = await openAuditedStage();
  const beyond = 100;
  const reads = Array.from({ length: auditLimits.recordUsesMax + beyond }, (_, at) => read(`f${at}`));
  const steps = [...reads, read("f0"), ask("store_trash", { scope: "other", path: "f0" })];
  await stage.runtime.call("Puppet", steps, { userId: "alice", callId: "filled" });
  expect(stage.recordsOf("use", "filled")).toMatchObject([{ capability: "store_trash", scope: "other", path: "f0" }]);
  const [call] = stage.recordsOf("call", "filled");
  expect(call?.reads).toHaveLength(auditLimits.recordUsesMax);
  expect(call).toMatchObject({ usesNotShown: beyond, usesDenied: 1 });
});

test.for([
  { name: "longer names than are kept", request: { scope: "s".repeat(500), path: "p".repeat(500) } },
  { name: "names that JSON writes as escapes", request: { scope: "\u0000".repeat(150), path: "\ud800".repeat(150) } },
])("records a denied request with $name", async ({ request }) => {
  await using stage = await openAuditedStage();
  const steps = Array.from({ length: trailLimits.refusalsMax }, () => ask("store_read", request));
  await stage.runtime.call("Puppet", steps, { userId: "alice", callId: "long" });
  const uses = stage.recordsOf("use", "long");
  expect(uses).toHaveLength(trailLimits.refusalsMax);
  expect(uses.at(-1)).toMatchObject({ scope: shown(request.scope), path: shown(request.path) });
});

const shown = (text: string): string => text.slice(0, auditLimits.namedCharsMax);
