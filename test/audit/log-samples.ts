import type { ListedCall, LogSummary, UnfitUse, UserCalls } from "../../host/audit/verify/log-summary.ts";

const start = Date.parse("2026-03-02T06:00:00.000Z");
const bucketMs = 15 * 60_000;
const paths = ["../../bob/memory/secret.md", "trash/notes.md", "MEMORY.md", "/etc/passwd", "a/./b.md"];
const users = ["alice", "bob@example.com", "8f14e45f-ceea-467f-a8b1-52a0f3f1c6aa", "山田"];

/** A day of 10,000 calls and 200 denials. */
export function busyLog(): LogSummary {
  const buckets = Array.from({ length: 96 }, (_, at) => ({
    from: new Date(start + at * bucketMs).toISOString(),
    calls: Math.round(104 + 92 * Math.sin((at - 20) / 15) + 8 * Math.sin(at * 3)),
    failed: (at >= 60 && at < 70 ? 20 : 0) + (at % 7 === 0 ? 3 : 0),
    denials: at >= 60 && at < 70 ? 20 : 0,
    refused: at === 30 ? 1_000 : 0,
  }));
  const first = buckets[0];
  if (first) first.calls += 10_000 - buckets.reduce((sum, { calls }) => sum + calls, 0);
  return {
    firstTime: "2026-03-02T06:00:03.104Z",
    lastTime: "2026-03-03T05:58:41.870Z",
    calls: 10_000,
    failed: 242,
    users: 37,
    tools: [
      { tool: "ReadUserMemory", calls: 6_120, failed: 18, medianMs: 1.31, maxMs: 44.6 },
      { tool: "PromptIndex", calls: 2_204, failed: 0, medianMs: 1.52, maxMs: 38.02 },
      { tool: "UpdateUserMemory", calls: 1_633, failed: 204, medianMs: 3.94, maxMs: 10_002.7 },
      { tool: "InspectMemory", calls: 41, failed: 18, medianMs: 21.4, maxMs: 317.9 },
      { tool: null, calls: 2, failed: 2, medianMs: 0.04, maxMs: 0.05 },
    ],
    toolsNotShown: 0,
    callsByUser: [...users, null].map((userId, at) => userCalls(userId, at)),
    usersNotShown: 33,
    callsByOrigin: [
      { class: "direct_user", calls: 3_000, written: 40, trashed: 2, removed: 0, granted: 1 },
      { class: "unstated", calls: 6_900, written: 20, trashed: 0, removed: 0, granted: 0 },
      { class: "tool_external", calls: 100, written: 9, trashed: 0, removed: 0, granted: 0 },
    ],
    latestCalls: Array.from({ length: 300 }, (_, at) => callAt(at)),
    callsNotShown: 9_700,
    denials: 200,
    failedUses: 12,
    unfitUses: Array.from({ length: 200 }, (_, at) => useAt(at)),
    unfitUsesNotShown: 12,
    refused: 1_000,
    refusals: [
      { surface: "http", reason: "token-expired", times: 996, lastTime: "2026-03-02T13:44:59.000Z" },
      { surface: "mcp", reason: "session-unknown", times: 4, lastTime: "2026-03-02T13:31:10.402Z" },
    ],
    refusedNotShown: 0,
    timeline: { bucketMs, buckets },
    lostRecords: 0,
    verification: {
      isIntact: true,
      files: 3,
      records: 11_874,
      bytes: 9_214_007,
      firstSeq: 0,
      head: { seq: 11_873, hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" },
      isEndKnown: true,
      findings: [],
      findingsNotShown: 0,
      notes: [],
    },
  };
}

/** The same log after someone has tampered with it. */
export function brokenLog(): LogSummary {
  const log = busyLog();
  return {
    ...log,
    lostRecords: 3,
    verification: {
      ...log.verification,
      isIntact: false,
      isEndKnown: false,
      findings: [
        { kind: "removed", seq: 412, file: "audit.jsonl.1", line: 413, text: "Records 412 to 414 are not there." },
        { kind: "altered", seq: 871, file: "audit.jsonl.1", line: 869, text: "Record 871 is not as it was written." },
      ],
      findingsNotShown: 4,
      notes: ["A process was killed while it wrote record 9022: 118 bytes were cut off."],
    },
  };
}

export function quietLog(): LogSummary {
  return {
    ...busyLog(),
    firstTime: null,
    lastTime: null,
    calls: 0,
    failed: 0,
    users: 0,
    tools: [],
    callsByUser: [],
    usersNotShown: 0,
    callsByOrigin: [],
    latestCalls: [],
    callsNotShown: 0,
    denials: 0,
    failedUses: 0,
    unfitUses: [],
    unfitUsesNotShown: 0,
    refused: 0,
    refusals: [],
    refusedNotShown: 0,
    timeline: { bucketMs, buckets: [] },
  };
}

function useAt(at: number): UnfitUse {
  const isFailure = at % 17 === 5;
  return {
    seq: 7_000 + at * 3,
    time: new Date(start + 60 * bucketMs + at * 41_000).toISOString(),
    callId: `call-${at}`,
    userId: users[at % users.length] ?? null,
    tool: at % 3 === 0 ? "ReadUserMemory" : "UpdateUserMemory",
    capability: at % 11 === 4 ? "clock_now" : "store_write",
    scope: at % 11 === 4 ? null : "memory",
    path: at % 11 === 4 ? null : (paths[at % paths.length] ?? null),
    code: isFailure ? "STORAGE_UNSAFE" : "CAPABILITY_DENIED",
  };
}

function userCalls(userId: string | null, at: number): UserCalls {
  return {
    userId,
    calls: 4_000 - at * 950,
    failed: 100 - at * 20,
    denials: at < 2 ? 100 : 0,
    refused: userId === null ? 1_000 : 0,
    written: at * 70,
    trashed: at,
    removed: at % 2,
    granted: at % 2,
    firstTime: "2026-03-02T06:00:03.104Z",
    lastTime: "2026-03-03T05:58:41.870Z",
  };
}

const tools = ["ReadUserMemory", "PromptIndex", "UpdateUserMemory", "InspectMemory", null];
const codes = ["CAPABILITY_DENIED", "DEADLINE_EXCEEDED", "INPUT_INVALID"];

const external: NonNullable<ListedCall["origin"]> = {
  class: "tool_external",
  run: "0192f0c1-6a1d-7cc3-98a4-2f6f3f1f7b10",
  turn: "12",
  source: "https://shop.example.com/menu?week=17&language=en",
  exposedTo: ["direct_user", "tool_external"],
};

/** Every tenth has failed, every seventh is from a web page, every thirtieth was denied something. */
function callAt(at: number): ListedCall {
  const code = at % 10 === 4 ? (codes[at % 3] ?? null) : null;
  return {
    seq: 11_000 + at,
    time: new Date(start + 90 * bucketMs + at * 9_000).toISOString(),
    callId: `call-${at}`,
    userId: users[at % users.length] ?? null,
    tool: tools[at % tools.length] ?? null,
    ...(at % 7 === 3 && { origin: external }),
    code,
    denials: code === "CAPABILITY_DENIED" ? 1 : 0,
    written: code === null && at % 4 === 2 ? 1 : 0,
    trashed: 0,
    removed: 0,
    granted: 0,
    durationMs: at % 10 === 4 ? 10_002.7 : 1.31,
  };
}
