/** What a runtime reports as OpenTelemetry metrics, with the real SDK: through an option, and through the global one. */
import { metrics } from "@opentelemetry/api";
import type { Attributes } from "@opentelemetry/api";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import type { Histogram } from "@opentelemetry/sdk-metrics";
import { createRuntime } from "memcell";
import type { RuntimeOptions } from "memcell";
import { afterEach, expect, test } from "vitest";

import { auditLimits } from "../../shared/limits.ts";
import { openBoundedStage } from "../bounds/bounded-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Reads whenever a test asks for it. */
class Reader extends MetricReader {
  /** The values of a metric by their attributes, as JSON; of a histogram its count. */
  async read(name: string): Promise<Record<string, number>> {
    const { resourceMetrics } = await this.collect();
    const found = resourceMetrics.scopeMetrics
      .flatMap((scope) => scope.metrics)
      .find(({ descriptor }) => descriptor.name === `memcell.${name}`);
    const values = (found?.dataPoints ?? []).map(({ attributes, value }): [string, number] => [
      shown(attributes),
      typeof value === "number" ? value : (value as Histogram).count,
    ]);
    return Object.fromEntries(values);
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
}

const shown = (attributes: Attributes): string =>
  Object.entries(attributes)
    .map(([key, value]) => `${key}=${String(value)}`)
    .toSorted()
    .join(" ");

function meters(): { readonly reader: Reader; readonly meterProvider: MeterProvider } {
  const reader = new Reader();
  return { reader, meterProvider: new MeterProvider({ readers: [reader] }) };
}

afterEach(() => metrics.disable());

test("shows how many calls wait and run, and nothing when all have ended", async () => {
  const { reader, meterProvider } = meters();
  await using stage = await openBoundedStage({ meterProvider });
  const counts = async (): Promise<Record<string, number>[]> =>
    await Promise.all([reader.read("calls.waiting"), reader.read("calls.running")]);
  const stop = new AbortController();
  const spinning = stage.spin("alice", stop.signal);
  await stage.handedOut(1);
  const leave = new AbortController();
  const leaving = stage.write("alice", "never.md", leave.signal);
  const others = [stage.write("alice", "a.md"), stage.write("bob", "b.md")];
  expect(await counts()).toEqual([{ "": 3 }, { "": 1 }]);
  leave.abort();
  await leaving;
  expect(await counts()).toEqual([{ "": 2 }, { "": 1 }]);
  stop.abort();
  await Promise.all([spinning, ...others]);
  expect(await counts()).toEqual([{ "": 0 }, { "": 0 }]);
  expect(await reader.read("calls")).toEqual({
    "outcome=CANCELLED tool=Spin": 1,
    "outcome=CANCELLED tool=Puppet": 1,
    "outcome=ok tool=Puppet": 2,
  });
  // The call that left had no guest.
  expect(await reader.read("call.duration.seconds")).toEqual({ "tool=Spin": 1, "tool=Puppet": 3 });
  expect(await reader.read("call.wait.duration.seconds")).toEqual({ "tool=Spin": 1, "tool=Puppet": 2 });
  expect(await reader.read("call.guest.duration.seconds")).toEqual({ "tool=Spin": 1, "tool=Puppet": 2 });
  expect(await reader.read("commit.duration.seconds")).toEqual({ "": 2 });
});

test("counts threads, also of two runtimes together, and none after they are closed", async () => {
  const { reader, meterProvider } = meters();
  {
    await using one = await openBoundedStage({ meterProvider });
    await one.write("alice", "a.md");
    await using two = await openBoundedStage({ meterProvider, warmThreads: true, threadsMax: 2 });
    await two.write("alice", "a.md");
    expect(await reader.read("threads")).toEqual({ "": 4 });
  }
  expect(await reader.read("threads")).toEqual({ "": 0 });
});

test("made-up names of tools have one label together, and so have kinds of refusals beyond the bound", async () => {
  const { reader, meterProvider } = meters();
  await using stage = await openBoundedStage({ meterProvider });
  for (let at = 0; at < 100; at++) await stage.runtime.call(`Made${at}`, {}, { userId: "alice" });
  expect(await reader.read("calls")).toEqual({ "outcome=TOOL_UNKNOWN tool=unknown": 100 });
  const kinds = auditLimits.refusalKindsMax + 20;
  for (let at = 0; at < kinds; at++) stage.runtime.refused({ surface: "http", reason: `reason-${at}` });
  stage.runtime.refused({ surface: "http", reason: "reason-0" });
  stage.runtime.refused({ surface: "ht\ntp", reason: 'a"b' });
  const refusals = await reader.read("refusals");
  expect(Object.keys(refusals)).toHaveLength(auditLimits.refusalKindsMax + 1);
  expect(refusals).toMatchObject({ "reason=reason-0 surface=http": 2, "reason=others surface=others": 21 });
});

test("a failure is counted by its code of the table, also one of a plugin's own", async () => {
  const { reader, meterProvider } = meters();
  using folder = temporaryFolder();
  await using runtime = await createRuntime({
    dataDir: folder.path,
    plugins: ["run-history"],
    threadsMax: 1,
    meterProvider,
  });
  const missing = await runtime.call("ReadRunHistory", { agentId: "", runId: "" }, { userId: "alice" });
  expect(missing).toMatchObject({ error: { code: "AGENT_ID_REQUIRED", of: "INPUT_INVALID" } });
  expect(await reader.read("calls")).toEqual({ "outcome=INPUT_INVALID tool=ReadRunHistory": 1 });
});

test("without the option, an SDK that is registered before gets the metrics", async () => {
  const { reader, meterProvider } = meters();
  metrics.setGlobalMeterProvider(meterProvider);
  await using stage = await openBoundedStage();
  await stage.write("alice", "a.md");
  expect(await reader.read("calls")).toEqual({ "outcome=ok tool=Puppet": 1 });
});

const failing = (): never => {
  throw new Error("the SDK fails");
};
const instrument = { add: failing, record: failing };
const make = (): typeof instrument => instrument;

test.for<{ name: string; provider: unknown }>([
  { name: "whose meter fails", provider: { getMeter: failing } },
  { name: "that makes no instruments", provider: { getMeter: () => ({}) } },
  {
    name: "whose instruments fail",
    provider: { getMeter: () => ({ createCounter: make, createUpDownCounter: make, createHistogram: make }) },
  },
])("a provider $name fails no call", async ({ provider }) => {
  await using stage = await openBoundedStage({
    meterProvider: provider as NonNullable<RuntimeOptions["meterProvider"]>,
  });
  expect(await stage.write("alice", "a.md")).toMatchObject({ ok: true });
  expect(() => stage.runtime.refused({ surface: "http", reason: "token-expired" })).not.toThrow();
});

test.for([null, "metrics", {}, { getMeter: 1 }])("%o is no provider", async (provider) => {
  const opened = openBoundedStage({ meterProvider: provider as never });
  await expect(opened).rejects.toThrow(new TypeError("meterProvider has no getMeter"));
});
