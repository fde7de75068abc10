/** Labels that a caller adds to its records: they are recorded exactly, or the call is refused. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";

import { trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { CallContext } from "memcell";
import { expect, test } from "vitest";

import { readLabels } from "../../host/values/call-context.ts";
import { verifyLog } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, stagedEntry } from "./audit-entries.ts";
import { ask, openAuditedStage, upsert, write } from "./audited-stage.ts";
import { logName, recordsOf, writeRun } from "./log-under-test.ts";

const labels = { movement: "3", agent: "planner", "model.name_1-x": "a b ~" };

test("records labels with a call and what it stages, and nowhere else", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  await runtime.call("UpdateUserMemory", upsert("a"), { userId: "alice", callId: "c1", labels });
  await runtime.call("Puppet", [ask("store_read", { scope: "x", path: "a" })], {
    userId: "alice",
    callId: "c2",
    labels,
  });
  await runtime.memoryIndex({ userId: "alice", callId: "c3", labels });
  expect(stage.recordsOf("staged", "c1")).toMatchObject([{ labels }]);
  expect(stage.recordsOf("call").map((record) => record.labels)).toEqual([labels, labels, labels]);
  const [use] = stage.recordsOf("use", "c2");
  expect(use).not.toHaveProperty("labels");
});

test("records labels with upkeep and the calls that it makes", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  const { upkeep } = runtime;
  for (const input of [upsert("a"), { action: "delete", name: "a" }]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await runtime.call("UpdateUserMemory", input, { userId: "alice" });
  }
  await upkeep.restore({ userId: "alice", callId: "op-1", labels }, "a");
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, { userId: "alice" });
  await upkeep.purge({ userId: "alice", callId: "op-2", labels }, { beforeEpochMs: 9e15 });
  expect(stage.recordsOf("upkeep").map((record) => record.labels)).toEqual([labels, labels]);
  const told = [...stage.recordsOf("staged"), ...stage.recordsOf("call")];
  const ofUpkeep = told.filter(({ callId }) => callId.startsWith("op-"));
  expect(ofUpkeep.map((record) => record.labels)).toEqual([labels, labels, labels]);
  expect(told.filter((record) => !ofUpkeep.includes(record) && "labels" in record)).toEqual([]);
});

test("records the largest allowed labels, and the log stays intact", async () => {
  await using stage = await openAuditedStage();
  const most = Object.fromEntries(
    Array.from({ length: 16 }, (_, at) => [`${at}`.padStart(64, "n"), at === 0 ? "" : "~".repeat(256)]),
  );
  await stage.runtime.call("UpdateUserMemory", upsert("a"), { userId: "alice", labels: most });
  expect(stage.recordsOf("call")).toMatchObject([{ labels: most, code: null }]);
  await stage.runtime.close();
  expect(verifyLog([stage.logFile])).toMatchObject({ isIntact: true });
});

class Labels {
  movement = "3";
}

const throwing = new Proxy(
  {},
  {
    ownKeys() {
      throw new Error("looked at");
    },
  },
);

const wrong: readonly { name: string; asked: unknown; value: string }[] = [
  { name: "null", asked: null, value: "null" },
  { name: "a text", asked: "movement=3", value: "of type string" },
  { name: "a function", asked: () => "3", value: "of type function" },
  { name: "an array", asked: ["3"], value: "no plain object" },
  { name: "an instance of a class", asked: new Labels(), value: "no plain object" },
  { name: "a map", asked: new Map([["movement", "3"]]), value: "no plain object" },
  { name: "an object of another realm", asked: runInNewContext("({ movement: '3' })"), value: "no plain object" },
  // oxlint-disable-next-line no-proto -- what a caller may write
  { name: "an object with another prototype", asked: { __proto__: { movement: "3" } }, value: "no plain object" },
  { name: "an object that throws when read", asked: throwing, value: "an object that cannot be read" },
  {
    name: "17 names",
    asked: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`n${at}`, ""])),
    value: "an object of 17 names",
  },
  { name: "an empty name", asked: { "": "3" }, value: 'an object with the name ""' },
  { name: "a name with a capital", asked: { Movement: "3" }, value: 'an object with the name "Movement"' },
  { name: "a name with a line end", asked: { "a\n": "3" }, value: 'an object with the name "a\\n"' },
  {
    name: "a name that is too long",
    asked: { ["n".repeat(65)]: "3" },
    value: `an object with the name "${"n".repeat(60)}…"`,
  },
  { name: "a number", asked: { movement: 3 }, value: 'an object whose "movement" is of type number' },
  { name: "a nested object", asked: { movement: { at: "3" } }, value: 'an object whose "movement" is of type object' },
  {
    name: "an undefined value",
    asked: { movement: undefined },
    value: 'an object whose "movement" is of type undefined',
  },
  {
    name: "a text that is too long",
    asked: { movement: "x".repeat(257) },
    value: 'an object whose "movement" is 257 characters long',
  },
  { name: "a line end", asked: { movement: "secret\n" }, value: 'an object whose "movement" is not printable ASCII' },
  {
    name: "a letter beyond ASCII",
    asked: { movement: "é" },
    value: 'an object whose "movement" is not printable ASCII',
  },
];

test.for(wrong)("refuses labels that are $name and records nothing of them", async ({ asked, value }) => {
  await using stage = await openAuditedStage();
  const ctx = { userId: "alice", callId: "c1", labels: asked } as CallContext;
  const result = await stage.runtime.call("UpdateUserMemory", upsert("a"), ctx);
  expect(result).toMatchObject({
    ok: false,
    error: {
      code: "INPUT_INVALID",
      message: expect.stringContaining(
        `Cannot call a tool: ctx.labels is ${value}, allowed: an object of at most 16 names`,
      ) as string,
      issues: [{ field: "ctx.labels", value }],
    },
  });
  await expect(stage.runtime.memoryIndex(ctx)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(stage.runtime.upkeep.listTrash(ctx)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(stage.filesOf("alice")).toEqual({});
  const [call, index] = stage.recordsOf("call");
  const upkeep = stage.recordsOf("upkeep")[0];
  for (const record of [call, index, upkeep]) {
    expect(record).toMatchObject({ callId: "c1", userId: "alice", code: "INPUT_INVALID" });
    expect(record).not.toHaveProperty("labels");
  }
  expect(readFileSync(stage.logFile, "utf8")).not.toMatch(/secret|movement/i);
});

test.for([
  { name: "undefined", asked: undefined },
  { name: "empty", asked: {} },
  {
    name: "names that cannot be listed",
    asked: Object.defineProperty({}, "movement", { value: "3", enumerable: false }),
  },
  { name: "symbols", asked: { [Symbol("movement")]: "3" } },
])("treats labels that are $name as no labels", ({ asked }) => {
  expect(readLabels(asked)).toEqual({ isValid: true, labels: null });
});

test("reads each label once; later changes of the caller's object have no effect", () => {
  let reads = 0;
  const asked = {
    get movement() {
      reads++;
      return reads === 1 ? "3" : 4;
    },
  };
  expect(readLabels(asked)).toEqual({ isValid: true, labels: { movement: "3" } });
  expect(reads).toBe(1);
  const plain = { movement: "3" };
  const read = readLabels(plain);
  plain.movement = "4";
  expect(read).toEqual({ isValid: true, labels: { movement: "3" } });
});

test("accepts the names of JavaScript's built-in properties", async () => {
  await using stage = await openAuditedStage();
  const odd = JSON.parse('{ "__proto__": "a", "constructor": "b", "hasownproperty": "c" }') as Record<string, string>;
  const bare = Object.assign(Object.create(null) as object, { movement: "3" }) as Record<string, string>;
  for (const each of [odd, bare]) {
    // oxlint-disable-next-line no-await-in-loop -- in order
    expect(await stage.runtime.call("Puppet", [], { userId: "alice", labels: each })).toMatchObject({ ok: true });
  }
  const lines = readFileSync(stage.logFile, "utf8").trimEnd().split("\n").slice(1);
  expect(lines[0]).toContain('"labels":{"__proto__":"a","constructor":"b","hasownproperty":"c"}');
  expect(lines[1]).toContain('"labels":{"movement":"3"}');
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  await stage.runtime.close();
  expect(verifyLog([stage.logFile])).toMatchObject({ isIntact: true, records: 4 });
});

test("sets labels as attributes of the call's span", async () => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  try {
    await using stage = await openAuditedStage({ isUnlogged: true });
    await stage.runtime.call("Puppet", [], { userId: "alice", labels });
    await stage.runtime.call("Puppet", [], { userId: "alice", labels: { BAD: "x" } });
    const [good, bad] = exporter.getFinishedSpans().map(({ attributes }) => attributes);
    expect(good).toMatchObject({
      "memcell.label.movement": "3",
      "memcell.label.agent": "planner",
      "memcell.label.model.name_1-x": "a b ~",
    });
    expect(Object.keys(bad ?? {}).filter((name) => name.startsWith("memcell.label."))).toEqual([]);
  } finally {
    trace.disable();
  }
});

test("no label reaches a guest or a user's file", async () => {
  const lines: string[] = [];
  await using stage = await openAuditedStage({ onLog: ({ text }) => lines.push(text) });
  const ctx = { userId: "alice", labels: { movement: "needle" } };
  const results = [
    await stage.runtime.call("UpdateUserMemory", upsert("a"), ctx),
    await stage.runtime.call("ReadUserMemory", { name: "a" }, ctx),
    await stage.runtime.call("Puppet", [write("b.md", "x"), { log: "said", times: 1 }], ctx),
    await stage.runtime.memoryIndex(ctx),
  ];
  expect(JSON.stringify([results, stage.filesOf("alice"), lines])).not.toContain("needle");
  expect(readFileSync(stage.logFile, "utf8")).toContain("needle");
});

test("a log from before labels and refusals existed is intact", async () => {
  using folder = temporaryFolder();
  await writeRun(folder.path, [stagedEntry(1), callEntry(1), callEntry(2)]);
  expect(recordsOf(folder.path).filter((record) => "labels" in record)).toEqual([]);
  expect(verifyLog([join(folder.path, logName)])).toMatchObject({ isIntact: true, records: 5 });
});
