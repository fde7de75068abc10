/** What `memcell audit --log` sums up of a log, as JSON, as text and on the page. */
import { rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { auditLimits } from "../../shared/audit-limits.ts";
import type { AuditEntry, CallEntry } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { audit, auditJson, callEntry, firstMs, refusedEntry, timeOf, useEntry, writeChain } from "./audited.ts";
import type { AuditJson } from "./audited.ts";
import { headName, linesOf, logName, writeLines } from "./written-log.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const file = join(folder.path, logName);

async function summaryOf(entries: Iterable<AuditEntry>): Promise<AuditJson["log"]> {
  writeChain(file, entries);
  return (await auditJson("user-memory", "--log", file)).log;
}

const numbered = <Item>(count: number, item: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => item(at));
const changed = { trashed: 0, removed: 0, granted: 0 };
const dropped = { changes: "dropped", code: "CAPABILITY_DENIED" } as const;
const grant = { store: "0182ba10-7a5e-4b1e-9f41-000000000001", grantee: "0182ba10-7a5e-4b1e-9f41-000000000002" };
const a = { scope: "memory", path: "a.md", bytes: 1 };
const changes = {
  writes: [a, a],
  trashed: [{ ...a, trashed: "trash/a.md" }],
  removed: [a],
  granted: [{ ...grant, level: null, expiresMs: null }],
};
const unknown: Partial<CallEntry> = {
  plugin: null,
  tool: null,
  userId: null,
  writes: [],
  changes: "none",
  code: "TOOL_UNKNOWN",
};
const origin = { class: "tool_external", run: "r7", turn: "3", source: "menu.pdf" } as const;

test("sums up calls by outcome, tool, user and origin, those to notice first, as JSON and on the page", async () => {
  const summary = await summaryOf([
    callEntry(1, { userId: "ann", ...changes, durationMs: 1, origin: { ...origin, exposedTo: ["direct_user"] } }),
    callEntry(2, { userId: "ann", ...changes, ...dropped, durationMs: 100, usesDenied: 2, origin }),
    callEntry(3, { userId: "bob", tool: "ReadUserMemory", writes: [], changes: "none" }),
    callEntry(4, unknown),
    useEntry(5, { userId: "cat" }),
    useEntry(6, { userId: "bob", code: "STORAGE_FAILED" }),
    refusedEntry({ userId: "dan" }),
    refusedEntry({ times: 40 }),
    callEntry(7, { userId: "山田", origin: { class: "direct_user" } }),
  ]);
  const none = { calls: 0, failed: 0, denials: 0, refused: 0, written: 0, ...changed };
  const user = (userId: string | null, first: number, last: number, more: object): object => {
    return { ...none, userId, firstTime: timeOf(first), lastTime: timeOf(last), ...more };
  };
  const ofCall = { tool: "UpdateUserMemory", code: null, denials: 0, written: 0, ...changed };
  const call = (seq: number, more: object): object => {
    return { ...ofCall, seq, time: timeOf(seq), callId: `call-${seq + 1}`, userId: "ann", ...more };
  };
  const all = { trashed: 1, removed: 1, granted: 1 };
  expect(summary).toMatchObject({
    firstTime: timeOf(0),
    lastTime: timeOf(8),
    calls: 5,
    failed: 2,
    users: 3,
    usersNotShown: 0,
    denials: 1,
    failedUses: 1,
    callsNotShown: 0,
    tools: [
      { tool: "UpdateUserMemory", calls: 3, failed: 1, maxMs: 100 },
      // A median is at most 1 % off.
      { tool: "ReadUserMemory", calls: 1, failed: 0, maxMs: 3.5, medianMs: expect.closeTo(3.5, 1) as number },
      { tool: null, calls: 1, failed: 1, maxMs: 4.5 },
    ],
    callsByUser: [
      user(null, 3, 7, { calls: 1, failed: 1, refused: 40 }),
      user("cat", 4, 4, { denials: 1 }),
      user("dan", 6, 6, { refused: 1 }),
      user("ann", 0, 1, { calls: 2, failed: 1, written: 2, ...all }),
      user("bob", 2, 2, { calls: 1 }),
      user("山田", 8, 8, { calls: 1, written: 1 }),
    ],
    callsByOrigin: [
      { class: "direct_user", calls: 1, written: 1, ...changed },
      { class: "unstated", calls: 2, written: 0, ...changed },
      { class: "tool_external", calls: 2, written: 2, ...all },
    ],
    latestCalls: [
      call(0, { durationMs: 1, written: 2, ...all }),
      call(1, { durationMs: 100, code: "CAPABILITY_DENIED", denials: 2 }),
      call(2, { durationMs: 3.5, tool: "ReadUserMemory", userId: "bob" }),
      call(3, { durationMs: 4.5, tool: null, userId: null, code: "TOOL_UNKNOWN" }),
      { seq: 8, callId: "call-7", userId: "山田", origin: { class: "direct_user" } },
    ],
    unfitUses: [
      { seq: 4, callId: "call-5", capability: "store_write", path: "../../5", code: "CAPABILITY_DENIED" },
      { seq: 5, code: "STORAGE_FAILED" },
    ],
    verification: { isIntact: true, records: 9 },
  });
  const { words } = await audit("user-memory", "--log", file);
  const parts = ["Calls per tool", "Calls per user", "Timeline", "Denials", "Refused requests"];
  expect(words).toMatch(new RegExp(["✓ INTACT 9 records, all present", ...parts].join(".*")));
  expect(words).toContain("from tool_external menu.pdfrun r7 turn 3exposed to direct_user");
});

test("counts refusals by kind, the most frequent first, and not as calls", async () => {
  const { refusalsToldMax } = auditLimits;
  const kinds = numbered(refusalsToldMax + 5, (at) => refusedEntry({ reason: `reason-${at}` }));
  const summary = await summaryOf([callEntry(1), refusedEntry({ times: 5_000 }), ...kinds, refusedEntry({})]);
  expect(summary).toMatchObject({ calls: 1, failed: 0, denials: 0, refused: 5_001 + kinds.length, refusedNotShown: 6 });
  const { refusals, timeline } = summary as unknown as { refusals: object[]; timeline: Timeline };
  expect(refusals).toHaveLength(refusalsToldMax);
  expect(refusals[0]).toMatchObject({ surface: "http", reason: "token-expired", times: 5_001 });
  expect(timeline.buckets.reduce((sum, { refused }) => sum + refused, 0)).toBe(summary["refused"]);
});

interface Timeline {
  readonly bucketMs: number;
  readonly buckets: readonly { readonly calls: number; readonly refused: number }[];
}

test("a timeline's spans widen without losing anything, whatever the times", async () => {
  const wild = ["9999-12-31T23:59:59.999Z", "2026-99-99T00:00:00.000Z", "0001-01-01T00:00:00.000Z"];
  const entries = numbered(300, (at) => callEntry(at, at === 299 ? dropped : {}));
  const near = (await summaryOf(entries))["timeline"] as Timeline;
  const none = { failed: 0, denials: 0, refused: 0 };
  expect(near.bucketMs).toBe(300_000);
  expect(near.buckets[0]).toEqual({ from: new Date(firstMs).toISOString(), calls: 5, written: 5, ...changed, ...none });
  expect(near.buckets.at(-1)).toMatchObject({ calls: 5, failed: 1 });
  const atTimes = entries.map((entry, at) => Object.assign({}, entry, { time: wild[at] ?? timeOf(at) }));
  const far = (await summaryOf(atTimes))["timeline"] as Timeline;
  for (const { buckets } of [near, far]) expect(buckets.length).toBeLessThanOrEqual(auditLimits.timelineBucketsMax);
  // One of these times is none.
  const sums = [near, far].map(({ buckets }) => buckets.reduce((sum, { calls }) => sum + calls, 0));
  expect(sums).toEqual([300, 299]);
});

test("a log that is not intact, or whose end is not known, is told on the page and in its title", async () => {
  writeChain(file, [callEntry(1), { kind: "lost", records: 3 }, callEntry(2), callEntry(3)]);
  writeLines(folder.path, logName, linesOf(folder.path).toSpliced(2, 1));
  const broken = await audit("user-memory", "--log", file);
  expect(broken.status).toBe(1);
  const gap = "between records 1 and 3, one record was removed";
  for (const each of [
    "NOT INTACT The log has 3 records, and is broken.",
    gap,
    "audit.jsonl, line 3",
    "3 records could not be written",
  ])
    expect(broken.words).toContain(each);
  expect(broken.words).not.toContain("✓ INTACT");
  expect(broken.printed).toContain(gap);
  expect(broken.page).toContain("<title>FAIL: user-memory.wasm – memcell audit</title>");
  writeChain(file, [callEntry(1)]);
  rmSync(join(folder.path, headName));
  const headless = await audit("user-memory", "--log", file);
  expect(headless.words).toContain("the log has no head: records at its end may be missing");
});
