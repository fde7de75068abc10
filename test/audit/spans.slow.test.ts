/** One OpenTelemetry span for each call, with the real SDK: its parent, its attributes, and what it never contains. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, TracerProvider } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";

import { spanLimits } from "../../shared/limits.ts";
import { writeCodedPuppet } from "../support/coded-plugins.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ask, openAuditedStage, read, write } from "./audited-stage.ts";

const projectFolder = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));
const exporter = new InMemorySpanExporter();
const stage = await openAuditedStage();
const { runtime } = stage;
afterAll(() => stage[Symbol.asyncDispose]());

let userId: string;
beforeEach(() => {
  userId = stage.user();
  exporter.reset();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});
afterEach(() => {
  trace.disable();
  context.disable();
});

const lastAttributes = (): Attributes => exporter.getFinishedSpans().at(-1)?.attributes ?? {};

test("a call's span is a child of the caller's, with the conventional name and kind", async () => {
  await trace.getTracer("caller").startActiveSpan("agent", async (agent) => {
    await runtime.call("Puppet", [write("a.md", "x")], { userId, callId: "one" });
    await runtime.memoryIndex({ userId });
    agent.end();
  });
  await runtime.call("Puppet", [], { userId });
  const [puppet, index, agent, alone] = exporter.getFinishedSpans();
  const { spanId, traceId } = agent?.spanContext() ?? {};
  for (const [span, name] of [[puppet, "Puppet"] as const, [index, "PromptIndex"] as const]) {
    expect(span).toMatchObject({ name: `execute_tool ${name}`, kind: SpanKind.INTERNAL });
    expect([span?.parentSpanContext?.spanId, span?.spanContext().traceId]).toEqual([spanId, traceId]);
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  }
  expect(alone?.parentSpanContext).toBeUndefined();
});

test("attributes are the facts of the call's record, its position in the log, and the caller's labels and origin", async () => {
  await runtime.call("Puppet", [write("old.md", "four")], { userId });
  const steps = [
    read("old.md"),
    read("none.md"),
    ask("store_list", { scope: "memory", prefix: "o" }),
    write("a.md", "x"),
    ask("store_trash", { scope: "memory", path: "old.md" }),
    { writeLarge: { path: "big.md", characters: 3 * 2 ** 20 } },
  ];
  const origin = { class: "tool_external", run: "run-7", turn: "3", source: "https://example.com/" } as const;
  const exposedTo = ["direct_user", "tool_external"] as const;
  const labels = { "model.name_1-x": "a b ~" };
  await runtime.call("Puppet", steps, { userId, callId: "c", labels, origin, exposedTo });
  const attributes = lastAttributes();
  const [call] = stage.recordsOf("call", "c");
  // The next record carries this hash.
  await runtime.call("Puppet", [], { userId });
  const next = stage.records().find(({ seq }) => seq === (call?.seq ?? 0) + 1);
  expect(attributes).toEqual({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "Puppet",
    "gen_ai.tool.call.id": "c",
    "memcell.user.id": userId,
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
    "memcell.audit.hash": next?.prev,
    "memcell.label.model.name_1-x": "a b ~",
    "memcell.origin.class": "tool_external",
    "memcell.origin.run": "run-7",
    "memcell.origin.turn": "3",
    "memcell.origin.source": "https://example.com/",
    "memcell.origin.exposed_to": ["direct_user", "tool_external"],
  });
});

test("a denial, a crash and a plugin's own code are errors of the span, without their contents, also without a log", async () => {
  using folder = temporaryFolder();
  const errors = [{ code: "SEAT_TAKEN", of: "NAME_CONFLICT" as const, meaning: "Somebody sits there." }];
  const plugins = [writeCodedPuppet(folder.path, errors)];
  const unlogged = { auditLog: undefined } as unknown as object;
  await using other = await openAuditedStage({ plugins, policy: policyFor(plugins), ...unlogged });
  const own = JSON.stringify({ ok: false, error: { code: "SEAT_TAKEN", message: "MARKER" } });
  for (const [step, code, of] of [
    [ask("store_write", { scope: "x", path: "y", content: "MARKER" }), "CAPABILITY_DENIED", undefined],
    [{ fail: "MARKER" }, "GUEST_TRAPPED", undefined],
    [{ fail: own }, "SEAT_TAKEN", "NAME_CONFLICT"],
    [{ fail: own.replace("SEAT_TAKEN", "SEAT_UNKNOWN") }, "OUTPUT_INVALID", undefined],
  ] as const) {
    await other.runtime.call("Puppet", [step], { userId });
    expect(exporter.getFinishedSpans().at(-1)?.status).toEqual({ code: SpanStatusCode.ERROR });
    const { "error.type": told, "memcell.error.of": behind, "memcell.changes": changes, ...others } = lastAttributes();
    expect([told, behind, changes]).toEqual([code, of, "none"]);
    expect(others).not.toHaveProperty("memcell.audit.seq");
  }
  // Neither what was written, nor what a guest failed with.
  expect(
    JSON.stringify(exporter.getFinishedSpans().map(({ attributes, events }) => [attributes, events])),
  ).not.toContain("MARKER");
});

test("a span has no unknown tool's name, no refused label, and a limited number of paths with their total", async () => {
  await runtime.call("my secret tool", {}, { userId, labels: { BAD: "x" } });
  expect(exporter.getFinishedSpans().at(-1)?.name).toBe("execute_tool");
  expect(lastAttributes()).toMatchObject({ "memcell.user.id": userId });
  expect(Object.keys(lastAttributes()).filter((name) => /tool\.name|label|origin/.test(name))).toEqual([]);
  const steps = Array.from({ length: spanLimits.pathsMax + 5 }, (_, at) => read(`${at}`));
  await runtime.call("Puppet", steps, { userId });
  expect(lastAttributes()["memcell.reads.count"]).toBe(steps.length);
  expect(lastAttributes()["memcell.reads.path"]).toHaveLength(spanLimits.pathsMax);
});

const use = (provider: unknown): void => {
  trace.disable();
  trace.setGlobalTracerProvider(provider as TracerProvider);
};

test("a tracer that changes the lists it gets changes no grant", async () => {
  // oxlint-disable-next-line consistent-function-scoping -- belongs to this test alone
  const nothing = (): void => {};
  // oxlint-disable-next-line consistent-function-scoping -- belongs to this test alone
  const setAttributes = (attributes: Attributes): void => {
    for (const list of Object.values(attributes)) if (Array.isArray(list)) (list as unknown[]).push("write");
  };
  const span = { isRecording: () => true, setAttributes, setAttribute: nothing, setStatus: nothing, end: nothing };
  use({ getTracer: () => ({ startSpan: () => span }) });
  for (const callId of ["widened", "widened"]) await runtime.call("ReadUserMemory", { name: "a" }, { userId, callId });
  const granted = stage.recordsOf("call", "widened").map(({ scopes, rights }) => ({ scopes, rights }));
  expect(granted).toEqual([1, 2].map(() => ({ scopes: ["memory"], rights: ["read", "list"] })));
});

const broken = new Proxy({}, { get: () => () => expect.fail("a broken tracer") });
test.for([
  { name: "provider", provider: broken },
  { name: "tracer", provider: { getTracer: () => broken } },
  { name: "span", provider: { getTracer: () => ({ startSpan: () => broken }) } },
])("an exception in a $name ends no call", async ({ name, provider }) => {
  use(provider);
  expect(await runtime.call("Puppet", [write("a.md", "x")], { userId, callId: name })).toMatchObject({ ok: true });
  expect(stage.recordsOf("call", name)).toMatchObject([{ changes: "committed", code: null }]);
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
