/** One OpenTelemetry span for each call, with the real SDK: its parent, its attributes, and what it never contains. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, TracerProvider } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, expect, test } from "vitest";

import { summariseLog } from "../../host/audit/verify/summarise-log.ts";
import { spanLimits } from "../../shared/limits.ts";
import { writeCodedPuppet } from "../support/coded-plugins.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ask, openAuditedStage, read, write } from "./audited-stage.ts";

const projectFolder = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));
const exporter = new InMemorySpanExporter();

beforeEach(() => {
  exporter.reset();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});

afterEach(() => {
  trace.disable();
  context.disable();
});

const spanNamed = (name: string): ReadableSpan | undefined =>
  exporter.getFinishedSpans().find((span) => span.name === name);

test("a call's span is a child of the caller's, with the conventional name and kind", async () => {
  await using stage = await openAuditedStage();
  await trace.getTracer("caller").startActiveSpan("agent", async (agent) => {
    await Promise.all([
      stage.runtime.call("Puppet", [write("a.md", "x")], { userId: "alice", callId: "one" }),
      stage.runtime.memoryIndex({ userId: "bob" }),
    ]);
    agent.end();
  });
  await stage.runtime.call("Puppet", [], { userId: "alice" });
  const [agent, index] = [spanNamed("agent"), spanNamed("execute_tool PromptIndex")];
  const calls = exporter.getFinishedSpans().filter(({ name }) => name === "execute_tool Puppet");
  const named = calls.find(({ attributes }) => attributes["gen_ai.tool.call.id"] === "one");
  const { spanId, traceId } = agent?.spanContext() ?? {};
  for (const span of [named, index]) {
    expect(span?.parentSpanContext?.spanId).toBe(spanId);
    expect(span?.spanContext().traceId).toBe(traceId);
    expect(span?.kind).toBe(SpanKind.INTERNAL);
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  }
  expect(named?.attributes).toMatchObject({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Puppet" });
  expect(calls.find((span) => span !== named)?.parentSpanContext).toBeUndefined();
});

test("attributes are the facts of the call's record and its position in the log", async () => {
  await using stage = await openAuditedStage();
  await stage.runtime.call("Puppet", [write("old.md", "four")], { userId: "alice" });
  const steps = [
    read("old.md"),
    read("none.md"),
    ask("store_list", { scope: "memory", prefix: "o" }),
    write("a.md", "x"),
    ask("store_trash", { scope: "memory", path: "old.md" }),
    { writeLarge: { path: "big.md", characters: 3 * 2 ** 20 } },
  ];
  await stage.runtime.call("Puppet", steps, { userId: "alice", callId: "c" });
  const [call] = stage.recordsOf("call", "c");
  const span = exporter.getFinishedSpans().find(({ attributes }) => attributes["gen_ai.tool.call.id"] === "c");
  const closed = (await stage.runtime.close(), stage.records().at(-1));
  expect(span?.attributes).toEqual({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "Puppet",
    "gen_ai.tool.call.id": "c",
    "memcell.user.id": "alice",
    "memcell.plugin.name": call?.plugin?.name,
    "memcell.plugin.version": call?.plugin?.version,
    "memcell.plugin.sha256": call?.plugin?.sha256,
    "memcell.scopes": call?.scopes,
    "memcell.rights": call?.rights,
    "memcell.reads.count": 2,
    "memcell.reads.path": ["memory/old.md", "memory/none.md"],
    "memcell.reads.bytes": [4, -1],
    "memcell.lists.count": 1,
    "memcell.lists.prefix": ["memory/o"],
    "memcell.lists.files": [1],
    "memcell.writes.count": 1,
    "memcell.writes.path": ["memory/a.md"],
    "memcell.writes.bytes": [1],
    "memcell.trashed.count": 1,
    "memcell.trashed.path": ["memory/old.md"],
    "memcell.trashed.bytes": [4],
    "memcell.trashed.trashed": [`memory/${call?.trashed[0]?.trashed}`],
    "memcell.uses.not_shown": 0,
    "memcell.uses.denied": 0,
    "memcell.uses.failed": 1,
    "memcell.changes": "committed",
    "memcell.fuel.polls": call?.fuelPolls,
    "memcell.duration_ms": call?.durationMs,
    "memcell.audit.seq": call?.seq,
    // The next record carries this hash.
    "memcell.audit.hash": closed?.prev,
  });
});

test.for([
  { name: "a denial", steps: [ask("store_read", { scope: "x", path: "y" })], code: "CAPABILITY_DENIED" },
  { name: "a crash", steps: [{ fail: "x" }], code: "GUEST_TRAPPED" },
])("$name is an error of the span, also without a log", async ({ steps, code }) => {
  await using stage = await openAuditedStage({ isUnlogged: true });
  await stage.runtime.call("Puppet", steps, { userId: "alice" });
  const span = spanNamed("execute_tool Puppet");
  expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
  expect(span?.attributes).toMatchObject({ "error.type": code, "memcell.changes": "none" });
  expect(span?.attributes).not.toHaveProperty("memcell.audit.seq");
});

const failing = (code: string): object => ({ fail: JSON.stringify({ ok: false, error: { code, message: "So" } }) });

test("the span and the record have a plugin's own code and the standard code behind it", async () => {
  using folder = temporaryFolder();
  const errors = [{ code: "SEAT_TAKEN", of: "NAME_CONFLICT" as const, meaning: "Somebody sits there." }];
  const plugins = [writeCodedPuppet(folder.path, errors)];
  await using stage = await openAuditedStage({ plugins, policy: policyFor(plugins) });
  const codes = ["SEAT_TAKEN", "NAME_CONFLICT", "SEAT_UNKNOWN"];
  for (const code of codes)
    await stage.runtime.call("Puppet", [write("a.md", "a"), failing(code)], { userId: "alice" });
  const records = stage.recordsOf("call");
  expect(records).toMatchObject([
    { code: "SEAT_TAKEN", of: "NAME_CONFLICT", changes: "dropped" },
    { code: "NAME_CONFLICT", changes: "dropped" },
    { code: "OUTPUT_INVALID", changes: "dropped" },
  ]);
  expect(records.map((record) => "of" in record)).toEqual([true, false, false]);
  const spans = exporter.getFinishedSpans().map(({ attributes }) => attributes);
  expect(spans).toMatchObject([
    { "error.type": "SEAT_TAKEN", "memcell.error.of": "NAME_CONFLICT" },
    { "error.type": "NAME_CONFLICT" },
    { "error.type": "OUTPUT_INVALID" },
  ]);
  expect(spans.map((attributes) => "memcell.error.of" in attributes)).toEqual([true, false, false]);
  expect(summariseLog([stage.logFile])).toMatchObject({ calls: 3, failed: 3, verification: { findings: [] } });
});

test("the span of a call with an unknown tool name does not repeat that name", async () => {
  await using stage = await openAuditedStage();
  await stage.runtime.call("my secret tool", {}, { userId: "alice" });
  const span = spanNamed("execute_tool");
  expect(span?.attributes).toMatchObject({ "error.type": "TOOL_UNKNOWN", "memcell.user.id": "alice" });
  expect(span?.attributes).not.toHaveProperty("gen_ai.tool.name");
});

test("a span has a limited number of paths and their total", async () => {
  await using stage = await openAuditedStage();
  const count = spanLimits.pathsMax + 5;
  await stage.runtime.call(
    "Puppet",
    Array.from({ length: count }, (_, at) => read(`${at}`)),
    { userId: "alice" },
  );
  const { attributes } = spanNamed("execute_tool Puppet") ?? {};
  expect(attributes?.["memcell.reads.count"]).toBe(count);
  expect(attributes?.["memcell.reads.path"]).toHaveLength(spanLimits.pathsMax);
});

test("no span contains what was written, described, answered, logged or failed with", async () => {
  await using stage = await openAuditedStage();
  const marker = "MARKER-that-nobody-else-would-write";
  const ctx = { userId: "alice" };
  const entry = { action: "upsert", name: "a", type: "user", description: marker, body: marker };
  await stage.runtime.call("UpdateUserMemory", entry, ctx);
  await stage.runtime.call("ReadUserMemory", { name: "a" }, ctx);
  await stage.runtime.call("UpdateUserMemory", { ...entry, [marker]: marker }, ctx);
  await stage.runtime.call("Puppet", [{ log: marker, times: 1 }, { fail: marker }], ctx);
  await stage.runtime.call("Puppet", [ask("store_write", { scope: "x", path: "y", content: marker })], ctx);
  const told = exporter
    .getFinishedSpans()
    .map(({ name, attributes, status, events }) => [name, attributes, status, events]);
  expect(told).toHaveLength(5);
  expect(JSON.stringify(told)).not.toContain(marker);
});

const nothing = (): void => {};
const widen = (attributes: Attributes): void => {
  for (const list of Object.values(attributes)) if (Array.isArray(list)) (list as unknown[]).push("write");
};

test("a tracer that changes the lists it gets changes no grant", async () => {
  trace.disable();
  const span = {
    isRecording: () => true,
    setAttributes: widen,
    setAttribute: nothing,
    setStatus: nothing,
    end: nothing,
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span }) } as unknown as TracerProvider);
  await using stage = await openAuditedStage();
  await stage.runtime.call("ReadUserMemory", { name: "a" }, { userId: "alice" });
  await stage.runtime.call("ReadUserMemory", { name: "a" }, { userId: "alice" });
  const granted = stage.recordsOf("call").map(({ scopes, rights }) => ({ scopes, rights }));
  const asked = { scopes: ["memory"], rights: ["read"] };
  expect(granted).toEqual([asked, asked]);
});

test("an exception in a tracer ends no call", async () => {
  const broken = new Proxy(
    {},
    {
      get: () => () => {
        throw new Error("a broken tracer");
      },
    },
  );
  for (const provider of [broken, { getTracer: () => broken }, { getTracer: () => ({ startSpan: () => broken }) }]) {
    trace.disable();
    trace.setGlobalTracerProvider(provider as Parameters<typeof trace.setGlobalTracerProvider>[0]);
    // oxlint-disable-next-line no-await-in-loop -- there is one global provider
    await using stage = await openAuditedStage();
    // oxlint-disable-next-line no-await-in-loop
    expect(await stage.runtime.call("Puppet", [write("a.md", "x")], { userId: "alice" })).toMatchObject({ ok: true });
    expect(stage.recordsOf("call")).toMatchObject([{ changes: "committed", code: null }]);
  }
});

test("without an SDK the package is not loaded, and an SDK registered later is found", () => {
  const program = `
    import { createRequire } from "node:module";
    import { createRuntime } from "memcell";
    const load = createRequire(import.meta.url);
    const isLoaded = () => Object.keys(load.cache).some((file) => file.includes("opentelemetry"));
    const runtime = await createRuntime({ dataDir: "nobody", threadsMax: 1 });
    const call = () => runtime.call("ReadUserMemory", { name: "none" }, { userId: "alice" });
    await call();
    const before = isLoaded();
    const { InMemorySpanExporter, BasicTracerProvider, SimpleSpanProcessor } = load("@opentelemetry/sdk-trace-base");
    const exporter = new InMemorySpanExporter();
    const spanProcessors = [new SimpleSpanProcessor(exporter)];
    load("@opentelemetry/api").trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
    await call();
    await runtime.close();
    console.log(JSON.stringify([before, exporter.getFinishedSpans().map(({ name }) => name)]));`;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", program];
  const printed = execFileSync(process.execPath, args, { cwd: projectFolder, encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual([false, ["execute_tool ReadUserMemory"]]);
});
