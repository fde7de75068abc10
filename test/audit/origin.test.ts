/** Where a call's text comes from: what the program says is recorded exactly with each change, and nowhere else. */
import { readFileSync } from "node:fs";

import { trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { CallContext, CallOrigin } from "memcell";
import { expect, test } from "vitest";

import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { verifyLog } from "../stage/audit-log.ts";
import type { CallEntry } from "../stage/audit-log.ts";
import { ask, openAuditedStage, upsert, write } from "./audited-stage.ts";

const origin: CallOrigin = { class: "tool_external", run: "run-7", turn: "3", source: "https://example.com/needle" };
const exposedTo = ["direct_user", "tool_external", "direct_user"] as const;
const recorded = { ...origin, exposedTo: ["direct_user", "tool_external"] };

test("records the origin with a call, with what it stages and with upkeep, and nowhere else", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  const ctx = { userId: "alice", origin, exposedTo };
  await runtime.call("UpdateUserMemory", upsert("a"), { ...ctx, callId: "c1" });
  await runtime.call("Puppet", [ask("store_read", { scope: "x", path: "a" })], { ...ctx, callId: "c2" });
  await runtime.memoryIndex({ ...ctx, callId: "c3" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, { userId: "alice", callId: "c4" });
  await runtime.upkeep.purge({ ...ctx, callId: "op" }, { beforeEpochMs: 9e15 });
  expect(stage.recordsOf("staged", "c1")).toMatchObject([{ origin: recorded }]);
  expect(stage.recordsOf("staged", "op")).toMatchObject([{ origin: recorded }]);
  expect(stage.recordsOf("upkeep").map((record) => record.origin)).toEqual([recorded]);
  expect(stage.recordsOf("call").map((record) => record.origin)).toEqual([recorded, recorded, recorded, undefined]);
  const others = [...stage.recordsOf("use"), ...stage.recordsOf("staged", "c4"), ...stage.recordsOf("call", "c4")];
  expect(others).toHaveLength(3);
  for (const record of others) expect(record).not.toHaveProperty("origin");
});

const ways: readonly (readonly [ctx: Partial<CallContext>, told: CallEntry["origin"]])[] = [
  [{ origin: { class: "owner_edit" } }, { class: "owner_edit" }],
  [{ origin: { class: "unstated" }, exposedTo: [] }, { class: "unstated" }],
  [{ exposedTo: ["direct_user"] }, { class: "unstated", exposedTo: ["direct_user"] }],
  [{ origin: undefined, exposedTo: [] }, undefined],
];

test("records the origin with the calls that upkeep makes", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  await runtime.call("UpdateUserMemory", upsert("a"), { userId: "alice" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, { userId: "alice" });
  await runtime.upkeep.restore({ userId: "alice", callId: "op", origin, exposedTo }, "a");
  const records = [...stage.recordsOf("staged", "op"), ...stage.recordsOf("call", "op"), ...stage.recordsOf("upkeep")];
  expect(records.map(({ kind, ...record }) => [kind, record.origin])).toEqual([
    ["staged", recorded],
    ["call", recorded],
    ["upkeep", recorded],
  ]);
});

test("records what the README shows", async () => {
  const shown = blocksIn(textOf("host/audit/README.md")).find(({ text }) => text.startsWith('"origin"'))?.text;
  const { origin: documented } = JSON.parse(`{${shown}}`) as Required<Pick<CallEntry, "origin">>;
  const { exposedTo: seen, ...said } = documented ?? { class: "unstated" };
  await using stage = await openAuditedStage();
  await stage.runtime.call("Puppet", [], { userId: "alice", origin: said, exposedTo: seen });
  expect(stage.recordsOf("call").map((record) => record.origin)).toEqual([documented]);
});

test("records what was told and no more", async () => {
  await using stage = await openAuditedStage();
  for (const [ctx] of ways) await stage.runtime.call("Puppet", [], { userId: "alice", ...ctx });
  expect(stage.recordsOf("call").map((record) => record.origin)).toEqual(ways.map(([, told]) => told));
});

test("refuses a wrong origin or exposure, changes nothing and records nothing of it", async () => {
  await using stage = await openAuditedStage();
  const wrong: readonly (readonly [field: string, more: object])[] = [
    ["origin", { origin: { class: "needle" } }],
    ["origin", { origin: { ...origin, sorce: "needle" } }],
    ["exposedTo", { origin, exposedTo: ["needle"] }],
  ];
  for (const [field, more] of wrong) {
    const ctx = { userId: "alice", callId: "c1", ...more } as CallContext;
    const result = await stage.runtime.call("UpdateUserMemory", upsert("a"), ctx);
    expect(result).toMatchObject({ error: { code: "INPUT_INVALID", issues: [{ field: `ctx.${field}` }] } });
    await expect(stage.runtime.memoryIndex(ctx)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(stage.runtime.upkeep.listTrash(ctx)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  }
  const records = [...stage.recordsOf("call"), ...stage.recordsOf("upkeep")];
  expect(records).toHaveLength(9);
  for (const record of records) expect(record).toMatchObject({ callId: "c1", userId: "alice", code: "INPUT_INVALID" });
  expect(readFileSync(stage.logFile, "utf8")).not.toMatch(/needle|"origin"/);
  expect(stage.filesOf("alice")).toEqual({});
});

test("records the longest origin, and the log stays intact", async () => {
  await using stage = await openAuditedStage();
  const longest = {
    class: "untrusted_document",
    run: "~".repeat(128),
    turn: " ".repeat(64),
    source: "s".repeat(512),
  } as const;
  await stage.runtime.call("UpdateUserMemory", upsert("a"), { userId: "alice", origin: longest });
  expect(stage.recordsOf("staged")).toMatchObject([{ origin: longest }]);
  await stage.runtime.close();
  expect(verifyLog([stage.logFile])).toMatchObject({ isIntact: true });
});

test("sets the origin as attributes of the call's span", async () => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  try {
    await using stage = await openAuditedStage({ isUnlogged: true });
    await stage.runtime.call("Puppet", [], { userId: "alice", origin, exposedTo });
    await stage.runtime.call("Puppet", [], { userId: "alice", origin: { class: "direct_user" } });
    await stage.runtime.call("Puppet", [], { userId: "alice" });
    const told = exporter
      .getFinishedSpans()
      .map(({ attributes }) => Object.entries(attributes).filter(([name]) => name.startsWith("memcell.origin.")));
    expect(told.map((each) => Object.fromEntries(each))).toEqual([
      {
        "memcell.origin.class": "tool_external",
        "memcell.origin.run": "run-7",
        "memcell.origin.turn": "3",
        "memcell.origin.source": "https://example.com/needle",
        "memcell.origin.exposed_to": ["direct_user", "tool_external"],
      },
      { "memcell.origin.class": "direct_user" },
      {},
    ]);
  } finally {
    trace.disable();
  }
});

test("nothing of the origin but its class reaches a guest, an answer or a user's file", async () => {
  const lines: string[] = [];
  await using stage = await openAuditedStage({ onLog: ({ text }) => lines.push(text) });
  const ctx = { userId: "alice", origin, exposedTo };
  const results = [
    await stage.runtime.call("UpdateUserMemory", upsert("a"), ctx),
    await stage.runtime.call("ReadUserMemory", { name: "a" }, ctx),
    await stage.runtime.call("Puppet", [write("b.md", "x"), { log: "said", times: 1 }], ctx),
    await stage.runtime.memoryIndex(ctx),
  ];
  expect(JSON.stringify([results, stage.filesOf("alice"), lines])).not.toMatch(/needle|run-7/);
  expect(readFileSync(stage.logFile, "utf8")).toContain("needle");
});
