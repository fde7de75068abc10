/** The summary of a whole log. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { summariseLog } from "../../host/audit/verify/summarise-log.ts";
import { Timeline } from "../../host/audit/verify/timeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, useEntry } from "./audit-entries.ts";
import { logName, recordsOf, writeRun } from "./log-under-test.ts";

test("counts calls, failures, denials and users", async () => {
  using folder = temporaryFolder();
  await writeRun(folder.path, [
    callEntry(1, { durationMs: 1 }),
    callEntry(2, { durationMs: 10 }),
    callEntry(3, { durationMs: 100, code: "DEADLINE_EXCEEDED" }),
    callEntry(4, { tool: "ReadUserMemory", userId: "user-1" }),
    callEntry(5, { tool: null, userId: null, plugin: null, code: "TOOL_UNKNOWN" }),
    useEntry(6),
    { ...useEntry(7), code: "STORAGE_FAILED" } as never,
  ]);
  const { verification, timeline, ...summary } = summariseLog([join(folder.path, logName)]);
  const times = recordsOf(folder.path).map((record) => (record as unknown as { time: string }).time);
  expect(summary).toMatchObject({
    firstTime: times[0],
    lastTime: times.at(-1),
    calls: 5,
    failed: 2,
    users: 3,
    toolsNotShown: 0,
    denials: 1,
    failedUses: 1,
    unfitUsesNotShown: 0,
    lostRecords: 0,
  });
  expect(summary.tools.map(({ tool, calls, failed, maxMs }) => [tool, calls, failed, maxMs])).toEqual([
    ["UpdateUserMemory", 3, 1, 100],
    ["ReadUserMemory", 1, 0, 4.5],
    [null, 1, 1, 5.5],
  ]);
  expect(Math.abs((summary.tools[0]?.medianMs ?? 0) - 10)).toBeLessThan(0.5);
  expect(summary.unfitUses).toMatchObject([
    { seq: 6, callId: "call-6", capability: "store_write", path: "../../6", code: "CAPABILITY_DENIED" },
    { seq: 7, code: "STORAGE_FAILED" },
  ]);
  expect(timeline.bucketMs).toBe(60_000);
  expect(timeline.buckets.reduce((sum, { calls, failed, denials }) => sum + calls + failed + denials, 0)).toBe(
    5 + 2 + 1,
  );
  expect(verification).toMatchObject({ isIntact: true, records: 9 });
});

const durationsMs = [0, 0.002, 0.5, 1, 3.7, 1234, 1e9];

test.for(durationsMs)("a median of %d ms is at most 1 %% off, and the longest is exact", async (ms) => {
  using folder = temporaryFolder();
  const calls = [ms / 2, ms, ms, ms, ms * 2].map((durationMs, at) => callEntry(at, { durationMs }));
  await writeRun(folder.path, calls);
  const { tools } = summariseLog([join(folder.path, logName)]);
  expect(tools).toMatchObject([{ calls: 5, maxMs: ms * 2 }]);
  expect(Math.abs((tools[0]?.medianMs ?? NaN) - ms)).toBeLessThanOrEqual(ms * 0.01 + 0.001);
});

test("a timeline's spans widen without losing anything", () => {
  const timeline = new Timeline(4);
  timeline.add("2026-01-01T00:00:00.000Z", { calls: 1 });
  timeline.add("2026-01-01T00:03:00.000Z", { failed: 1 });
  expect(timeline.result()).toMatchObject({
    bucketMs: 60_000,
    buckets: [{ calls: 1 }, { calls: 0 }, {}, { failed: 1 }],
  });
  timeline.add("2026-01-01T00:04:00.000Z", { denials: 1 });
  expect(timeline.result()).toEqual({
    bucketMs: 300_000,
    buckets: [{ from: "2026-01-01T00:00:00.000Z", calls: 1, failed: 1, denials: 1, refused: 0 }],
  });
  timeline.add("9999-12-31T23:59:59.999Z", { calls: 1 });
  timeline.add("2026-99-99T00:00:00.000Z", { calls: 1 });
  timeline.add("0001-01-01T00:00:00.000Z", { calls: 1 });
  const { buckets } = timeline.result();
  expect(buckets.length).toBeLessThanOrEqual(4);
  expect(buckets.reduce((sum, { calls }) => sum + calls, 0)).toBe(3);
  expect(new Timeline(4).result().buckets).toEqual([]);
});
