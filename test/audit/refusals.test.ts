/** Requests refused before any tool was called: recorded, bounded, and shown to whoever reads the log. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { LogEntry, Refusal } from "memcell";
import { afterEach, expect, test, vi } from "vitest";

import { Measures } from "../../host/audit/collect/measures.ts";
import { RefusalRecorder } from "../../host/audit/collect/refusal-recorder.ts";
import { summariseLog } from "../../host/audit/verify/summarise-log.ts";
import type { LogLine } from "../../host/log/log-entry.ts";
import { htmlPage } from "../../host/report/page/html-page.ts";
import { auditLimits } from "../../shared/limits.ts";
import { verifyLog } from "../stage/audit-log.ts";
import type { AuditEntry } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, refusedEntry } from "./audit-entries.ts";
import { openAuditedStage, readRecords } from "./audited-stage.ts";
import { logName, openLog, writeRun } from "./log-under-test.ts";
import { runAudit } from "./run-audit.ts";

const { refusalsShownPerMinute, refusalKindsMax } = auditLimits;
const expired: Refusal = { surface: "http", reason: "token-expired", peer: "192.0.2.1" };
const none = { userId: null, peer: null };

afterEach(() => vi.useRealTimers());

/** The fields that only records of refusals have. */
const told = (records: readonly object[]): object[] =>
  records
    .map((record) => record as Record<string, unknown>)
    .filter(({ kind }) => kind === "refused")
    .map(({ surface, reason, userId, peer, times }) => ({ surface, reason, userId, peer, times }));

test("writes a refusal as its own record at once", async () => {
  await using stage = await openAuditedStage();
  stage.runtime.refused({ ...expired, userId: "alice" });
  stage.runtime.refused({ surface: "mcp", reason: "session-unknown" });
  expect(told(stage.records())).toEqual([
    { surface: "http", reason: "token-expired", userId: "alice", peer: "192.0.2.1", times: 1 },
    { surface: "mcp", reason: "session-unknown", ...none, times: 1 },
  ]);
  await stage.runtime.close();
  expect(verifyLog([stage.logFile])).toMatchObject({ isIntact: true, records: 4 });
});

const unknown = { surface: "unknown", reason: "unknown", ...none, times: 1 };
const throwing = {
  get surface(): string {
    throw new Error("looked at");
  },
};

test.for([
  { name: "nothing", refusal: undefined, record: unknown },
  { name: "null", refusal: null, record: unknown },
  { name: "a text", refusal: "token-expired", record: unknown },
  { name: "an object that throws when read", refusal: throwing, record: unknown },
  { name: "no reason", refusal: { surface: "http" }, record: { ...unknown, surface: "http" } },
  { name: "words in another format", refusal: { surface: "HTTP", reason: "a b" }, record: unknown },
  { name: "words that are too long", refusal: { surface: "a".repeat(65), reason: "a".repeat(65) }, record: unknown },
  { name: "words with a line end", refusal: { surface: "http\n", reason: "a\nb" }, record: unknown },
  {
    name: "an invalid user",
    refusal: { ...expired, userId: "../bob" },
    record: { ...expired, userId: null, times: 1 },
  },
  { name: "a user that is a list", refusal: { userId: ["alice"] }, record: unknown },
  { name: "a peer of two lines", refusal: { ...expired, peer: "a\nb" }, record: { ...expired, ...none, times: 1 } },
  {
    name: "a peer that is too long",
    refusal: { ...expired, peer: "a".repeat(65) },
    record: { ...expired, ...none, times: 1 },
  },
  { name: "an empty peer", refusal: { ...expired, peer: "" }, record: { ...expired, ...none, times: 1 } },
  {
    name: "unknown fields",
    refusal: { ...expired, token: "secret", times: 9 },
    record: { ...expired, userId: null, times: 1 },
  },
])("records the valid parts of a malformed refusal: $name", async ({ refusal, record }) => {
  await using stage = await openAuditedStage();
  stage.runtime.refused(refusal as Refusal);
  expect(told(stage.records())).toEqual([record]);
  expect(readFileSync(stage.logFile, "utf8")).not.toContain("secret");
});

test("writes a flood one by one up to a bound and counts the rest", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, logName);
  const runtime = await createRuntime({ dataDir: join(folder.path, "data"), threadsMax: 1, auditLog: { file } });
  for (let times = 0; times < refusalsShownPerMinute; times++) runtime.refused(expired);
  for (let times = 0; times < 5_000; times++) runtime.refused({ ...expired, userId: `user-${times}` });
  for (let times = 0; times < 7; times++) runtime.refused({ surface: "mcp", reason: "session-unknown" });
  const before = told(readRecords(file));
  expect(before).toHaveLength(refusalsShownPerMinute);
  await runtime.close();
  expect(told(readRecords(file)).slice(before.length)).toEqual([
    { surface: "http", reason: "token-expired", ...none, times: 5_000 },
    { surface: "mcp", reason: "session-unknown", ...none, times: 7 },
  ]);
  expect(readRecords(file).at(-1)).toMatchObject({ kind: "closed" });
  runtime.refused(expired);
  expect(readRecords(file).at(-1)).toMatchObject({ kind: "closed" });
});

test("writes the count when the minute is over, and then counts from zero", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  using folder = temporaryFolder();
  const log = await openLog(folder.path);
  const recorder = new RefusalRecorder({ log, onLog: () => {}, measures: new Measures(undefined), note: () => {} });
  const times = (): unknown[] =>
    told(readRecords(join(folder.path, logName))).map((record) => "times" in record && record.times);
  for (let count = 0; count < refusalsShownPerMinute + 10; count++) recorder.add(expired);
  vi.advanceTimersByTime(59_999);
  expect(times()).toHaveLength(refusalsShownPerMinute);
  vi.advanceTimersByTime(1);
  expect(times().slice(refusalsShownPerMinute)).toEqual([10]);
  recorder.add(expired);
  expect(times().slice(refusalsShownPerMinute)).toEqual([10, 1]);
  recorder.close();
  expect(vi.getTimerCount()).toBe(0);
  log.close();
});

test("counts kinds beyond the bound together", async () => {
  const entries: AuditEntry[] = [];
  const log = {
    append: (entry: AuditEntry): null => {
      entries.push(entry);
      return null;
    },
    close: () => {},
  };
  const recorder = new RefusalRecorder({ log, onLog: () => {}, measures: new Measures(undefined), note: () => {} });
  for (let at = 0; at < refusalsShownPerMinute; at++) recorder.add(expired);
  for (let at = 0; at < 3 * refusalKindsMax; at++) recorder.add({ surface: "http", reason: `reason-${at}` });
  recorder.add({ surface: "http", reason: "reason-0" });
  recorder.close();
  const counted = told(entries).slice(refusalsShownPerMinute);
  expect(counted).toHaveLength(refusalKindsMax + 1);
  expect(counted[0]).toMatchObject({ reason: "reason-0", times: 2 });
  expect(counted.at(-1)).toEqual({ surface: "others", reason: "others", ...none, times: 2 * refusalKindsMax });
});

test("reports a log that cannot be written to the operator, and writes the missing records later", async () => {
  using folder = temporaryFolder();
  const log = await openLog(folder.path);
  const file = join(folder.path, logName);
  const lines: LogLine[] = [];
  const recorder = new RefusalRecorder({
    log,
    onLog: () => {},
    measures: new Measures(undefined),
    note: (line) => lines.push(line),
  });
  recorder.add(expired);
  const whole = readFileSync(file);
  writeFileSync(file, Buffer.concat([whole, Buffer.from("x")]));
  recorder.add({ ...expired, reason: "while-broken" });
  expect(lines).toMatchObject([
    { level: "error", text: expect.stringContaining("Cannot write the audit log") as string },
  ]);
  writeFileSync(file, whole);
  recorder.add({ ...expired, reason: "mended" });
  recorder.close();
  log.close();
  expect(told(readRecords(file)).map((record) => "reason" in record && record.reason)).toEqual([
    "token-expired",
    "mended",
    "while-broken",
  ]);
  expect(verifyLog([file])).toMatchObject({ isIntact: true });
});

test("closes the runtime even if the log's end cannot be written, and refused() never throws", async () => {
  const lines: LogEntry[] = [];
  await using stage = await openAuditedStage({ onLog: (entry) => lines.push(entry) });
  writeFileSync(stage.logFile, "somebody else's");
  expect(() => stage.runtime.refused(expired)).not.toThrow();
  await stage.runtime.close();
  expect(lines.map(({ tool }) => tool)).toContain("log");
});

test("without a log, refused() records and creates nothing", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: join(folder.path, "data"), threadsMax: 1 });
  runtime.refused(expired);
  await runtime.close();
  expect(readdirSync(folder.path)).toEqual([]);
});

test("the summary counts refusals by kind, and not as calls", async () => {
  using folder = temporaryFolder();
  const kinds = Array.from({ length: auditLimits.refusalsToldMax + 5 }, (_, at) =>
    refusedEntry({ reason: `reason-${at}` }),
  );
  await writeRun(folder.path, [callEntry(1), refusedEntry({ times: 5_000 }), ...kinds, refusedEntry({})]);
  const summary = summariseLog([join(folder.path, logName)]);
  expect(summary).toMatchObject({ calls: 1, failed: 0, denials: 0, refused: 5_000 + kinds.length + 1 });
  expect(summary.refusals).toHaveLength(auditLimits.refusalsToldMax);
  expect(summary.refusals[0]).toMatchObject({ surface: "http", reason: "token-expired", times: 5_001 });
  expect(summary.refusedNotShown).toBe(6);
  expect(summary.timeline.buckets.reduce((sum, { refused }) => sum + refused, 0)).toBe(summary.refused);
});

test("memcell audit --log shows refusals as text, as JSON and on the page", async () => {
  using folder = temporaryFolder();
  await writeRun(folder.path, [refusedEntry({ times: 41 }), refusedEntry({ surface: "mcp", reason: "rate-limit" })]);
  const file = join(folder.path, logName);
  const page = join(folder.path, "page.html");
  const { status, stdout } = runAudit(["--log", file, "--html", page]);
  expect(status).toBe(0);
  expect(stdout).toContain(
    "\n42 requests refused before any tool was called\n  http token-expired: 41\n  mcp rate-limit: 1\n",
  );
  const { log } = JSON.parse(runAudit(["--json", "--log", file]).stdout) as { log: object };
  expect(log).toMatchObject({ refused: 42, refusals: [{ times: 41 }, { times: 1 }], refusedNotShown: 0 });
  expect(readFileSync(page, "utf8")).toContain("<strong>Refused requests</strong>");
  expect(htmlPage([], summariseLog([file]))).toContain("42 requests were refused");
  await writeRun(folder.path, [], { file: join(folder.path, "quiet.jsonl") });
  expect(runAudit(["--log", join(folder.path, "quiet.jsonl")]).stdout).not.toContain("refused before");
  expect(existsSync(page)).toBe(true);
});
