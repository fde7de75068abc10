/** The summary of a whole log. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { LatestCalls } from "../../host/audit/verify/latest-calls.ts";
import { summariseLog } from "../../host/audit/verify/summarise-log.ts";
import { Timeline } from "../../host/audit/verify/timeline.ts";
import { auditLimits } from "../../shared/audit-limits.ts";
import type { CallEntry } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, refusedEntry, useEntry } from "./audit-entries.ts";
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

test("sums up each user's calls, denials, refused requests and changes", async () => {
  using folder = temporaryFolder();
  const file = { scope: "memory", path: "a.md", bytes: 1 };
  const grant = { store: "0182ba10-7a5e-4b1e-9f41-000000000001", grantee: "0182ba10-7a5e-4b1e-9f41-000000000002" };
  const changes = {
    writes: [file, file],
    trashed: [{ ...file, trashed: "trash/a.md" }],
    removed: [file],
    granted: [{ ...grant, level: null, expiresMs: null }],
  };
  await writeRun(folder.path, [
    callEntry(1, { userId: "ann", ...changes }),
    callEntry(2, { userId: "ann", ...changes, changes: "dropped", code: "DEADLINE_EXCEEDED" }),
    callEntry(3, { userId: "bob", writes: [], changes: "none" }),
    callEntry(4, { userId: null, writes: [], changes: "none", code: "USER_REQUIRED" }),
    { ...useEntry(5), userId: "cat" } as never,
    { ...useEntry(6), userId: "bob", code: "STORAGE_FAILED" } as never,
    refusedEntry({ userId: "dan" }),
    refusedEntry({ times: 40 }),
    callEntry(7, { userId: "ann" }),
  ]);
  const { users, callsByUser, usersNotShown } = summariseLog([join(folder.path, logName)]);
  const times = recordsOf(folder.path).map((record) => (record as unknown as { time: string }).time);
  const none = { calls: 0, failed: 0, denials: 0, refused: 0, written: 0, trashed: 0, removed: 0, granted: 0 };
  const between = (first: number, last: number): object => ({ firstTime: times[first], lastTime: times[last] });
  expect(callsByUser).toEqual([
    { ...none, userId: null, calls: 1, failed: 1, refused: 40, ...between(4, 8) },
    { ...none, userId: "cat", denials: 1, ...between(5, 5) },
    { ...none, userId: "dan", refused: 1, ...between(7, 7) },
    { ...none, userId: "ann", calls: 3, failed: 1, written: 3, trashed: 1, removed: 1, granted: 1, ...between(1, 9) },
    { ...none, userId: "bob", calls: 1, ...between(3, 3) },
  ]);
  expect({ users, usersNotShown }).toEqual({ users: 2, usersNotShown: 0 });
});

const of = (origin: CallEntry["origin"]) => ({ origin });

test("sums up the calls of each class of origin, from the most trusted to the least", async () => {
  using folder = temporaryFolder();
  await writeRun(folder.path, [
    callEntry(1, of({ class: "tool_external", run: "r" })),
    callEntry(2),
    callEntry(3, { ...of({ class: "tool_external" }), changes: "dropped", code: "BUSY" }),
    callEntry(4, of({ class: "unstated", exposedTo: ["direct_user"] })),
    callEntry(5, of({ class: "direct_user" })),
  ]);
  const { callsByOrigin, latestCalls } = summariseLog([join(folder.path, logName)]);
  const none = { trashed: 0, removed: 0, granted: 0 };
  expect(callsByOrigin).toEqual([
    { class: "direct_user", calls: 1, written: 1, ...none },
    { class: "unstated", calls: 2, written: 2, ...none },
    { class: "tool_external", calls: 2, written: 1, ...none },
  ]);
  expect(latestCalls.map(({ origin }) => origin?.class)).toEqual([
    "tool_external",
    undefined,
    "tool_external",
    "unstated",
    "direct_user",
  ]);
});

test("sums up no origins in a log in which nobody has told one", async () => {
  using folder = temporaryFolder();
  await writeRun(folder.path, [callEntry(1), callEntry(2)]);
  expect(summariseLog([join(folder.path, logName)]).callsByOrigin).toEqual([]);
});

test("lists the calls with their outcomes and changes, in the order of the log", async () => {
  using folder = temporaryFolder();
  await writeRun(folder.path, [
    callEntry(1),
    callEntry(2, { changes: "dropped", code: "CAPABILITY_DENIED", usesDenied: 2 }),
    callEntry(3, { tool: null, userId: null, writes: [], changes: "none", code: "TOOL_UNKNOWN" }),
  ]);
  const { latestCalls, callsNotShown } = summariseLog([join(folder.path, logName)]);
  const none = { trashed: 0, removed: 0, granted: 0 };
  const time = expect.stringMatching(/^2/) as string;
  const tool = "UpdateUserMemory";
  expect(latestCalls).toEqual([
    {
      seq: 1,
      time,
      callId: "call-1",
      userId: "user-1",
      tool,
      code: null,
      denials: 0,
      written: 1,
      ...none,
      durationMs: 1.5,
    },
    {
      seq: 2,
      time,
      callId: "call-2",
      userId: "user-2",
      tool,
      code: "CAPABILITY_DENIED",
      denials: 2,
      written: 0,
      ...none,
      durationMs: 2.5,
    },
    {
      seq: 3,
      time,
      callId: "call-3",
      userId: null,
      tool: null,
      code: "TOOL_UNKNOWN",
      denials: 0,
      written: 0,
      ...none,
      durationMs: 3.5,
    },
  ]);
  expect(callsNotShown).toBe(0);
});

test("keeps the latest calls, and before them earlier ones that failed or were denied a capability", () => {
  const { callsShownMax, faultyCallsShownMax } = auditLimits;
  const list = new LatestCalls();
  const count = callsShownMax + 3 * faultyCallsShownMax;
  for (let seq = 0; seq < count; seq++) {
    const isFaulty = seq % 2 === 0;
    const fault = seq % 4 === 0 ? { code: "INPUT_INVALID" } : { usesDenied: 1 };
    list.add({ ...callEntry(seq, isFaulty ? fault : {}), seq, time: "2026-01-01T00:00:00.000Z", prev: "" });
  }
  const { latestCalls, callsNotShown } = list.result();
  const seqs = latestCalls.map(({ seq }) => seq);
  const latest = Array.from({ length: callsShownMax }, (_, at) => count - callsShownMax + at);
  const earlier = Array.from({ length: faultyCallsShownMax }, (_, at) => faultyCallsShownMax + 2 * at);
  expect(seqs).toEqual([...earlier, ...latest]);
  expect(callsNotShown).toBe(2 * faultyCallsShownMax);
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
