/**
 * What a runtime reports as OpenTelemetry metrics, with the real SDK, beyond what `test/serve/metrics.test.ts` reads from
 * a server: the present state, bounds, the global SDK, and providers that fail.
 */
import { metrics } from "@opentelemetry/api";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import type { Histogram } from "@opentelemetry/sdk-metrics";
import type { RuntimeOptions } from "memcell";
import { afterEach, expect, test } from "vitest";

import { auditLimits } from "../../shared/limits.ts";
import { openBoundedStage } from "../bounds/bounded-stage.ts";
import { openStage } from "../stage/runtime.ts";

/** Reads whenever a test asks for it. */
class Reader extends MetricReader {
  /** The values of a metric by their labels; of a histogram its count. */
  async read(name: string): Promise<Record<string, number>> {
    const { resourceMetrics } = await this.collect();
    const found = resourceMetrics.scopeMetrics
      .flatMap((scope) => scope.metrics)
      .find(({ descriptor }) => descriptor.name === `memcell.${name}`);
    const values = (found?.dataPoints ?? []).map(({ attributes, value }): [string, number] => [
      Object.keys(attributes)
        .toSorted()
        .map((key) => String(attributes[key]))
        .join(" "),
      typeof value === "number" ? value : (value as Histogram).count,
    ]);
    return Object.fromEntries(values);
  }

  protected override async onShutdown(): Promise<void> {}

  protected override async onForceFlush(): Promise<void> {}
}

function meters(): { readonly reader: Reader; readonly meterProvider: MeterProvider } {
  const reader = new Reader();
  return { reader, meterProvider: new MeterProvider({ readers: [reader] }) };
}

afterEach(() => metrics.disable());

test("shows how many calls wait and run and how many threads there are, and none when all has ended", async () => {
  const { reader, meterProvider } = meters();
  // oxlint-disable-next-line consistent-function-scoping -- belongs to this test alone
  const counts = async (): Promise<unknown[]> =>
    (await Promise.all(["calls.waiting", "calls.running"].map((name) => reader.read(name)))).map((each) => each[""]);
  {
    await using stage = await openBoundedStage({ meterProvider });
    const stop = new AbortController();
    const spinning = stage.spin("alice", stop.signal);
    await stage.handedOut(1);
    const leave = new AbortController();
    const leaving = stage.write("alice", "never.md", leave.signal);
    expect(await counts()).toEqual([1, 1]);
    leave.abort();
    await leaving;
    expect(await counts()).toEqual([0, 1]);
    stop.abort();
    await spinning;
    expect(await counts()).toEqual([0, 0]);
    // The call that left had no guest.
    expect(await reader.read("call.duration.seconds")).toEqual({ Spin: 1, Puppet: 1 });
    expect(await reader.read("call.guest.duration.seconds")).toEqual({ Spin: 1 });
    expect((await reader.read("threads"))[""]).toBeGreaterThan(0);
  }
  expect(await reader.read("threads")).toEqual({ "": 0 });
});

test("a plugin's own code counts as the standard one, and kinds of refusals beyond the bound as one", async () => {
  const { reader, meterProvider } = meters();
  await using stage = await openStage({ plugins: ["run-history"], meterProvider });
  await stage.runtime.call("ReadRunHistory", { agentId: "", runId: "" }, { userId: "alice" });
  expect(await reader.read("calls")).toEqual({ "INPUT_INVALID ReadRunHistory": 1 });
  const kinds = auditLimits.refusalKindsMax + 20;
  for (let at = 0; at < kinds; at++) stage.runtime.refused({ surface: "http", reason: `reason-${at}` });
  stage.runtime.refused({ surface: "http", reason: "reason-0" });
  const refusals = await reader.read("refusals");
  expect(Object.keys(refusals)).toHaveLength(auditLimits.refusalKindsMax + 1);
  expect(refusals).toMatchObject({ "reason-0 http": 2, "others others": 20 });
});

const failing = (): never => expect.fail("the SDK fails");
const make = () => ({ add: failing, record: failing });

test.for<{ name: string; provider: unknown }>([
  { name: "whose meter fails", provider: { getMeter: failing } },
  { name: "that makes no instruments", provider: { getMeter: () => ({}) } },
  {
    name: "whose instruments fail",
    provider: { getMeter: () => ({ createCounter: make, createUpDownCounter: make, createHistogram: make }) },
  },
])("a provider $name fails no call, and the global one is not used beside it", async ({ provider }) => {
  const { reader, meterProvider } = meters();
  metrics.setGlobalMeterProvider(meterProvider);
  await using stage = await openStage({ meterProvider: provider as NonNullable<RuntimeOptions["meterProvider"]> });
  expect(await stage.runtime.call("SearchUserMemory", {}, { userId: "alice" })).toMatchObject({ ok: true });
  expect(() => stage.runtime.refused({ surface: "http", reason: "token-expired" })).not.toThrow();
  expect(await reader.read("calls")).toEqual({});
});

test("without the option, an SDK that is registered before gets the metrics", async () => {
  const { reader, meterProvider } = meters();
  metrics.setGlobalMeterProvider(meterProvider);
  await using stage = await openStage();
  await stage.runtime.call("SearchUserMemory", {}, { userId: "alice" });
  expect(await reader.read("calls")).toEqual({ "ok SearchUserMemory": 1 });
});

test.for([null, "metrics", {}, { getMeter: 1 }])("%o is no provider", async (provider) => {
  const opened = openStage({ meterProvider: provider as never });
  await expect(opened).rejects.toThrow(new TypeError("meterProvider has no getMeter"));
});
