/** Requests refused before any tool was called: recorded and told to the operator, in bounds, and shown to a reader. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Refusal } from "memcell";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { auditLimits } from "../../shared/limits.ts";
import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { memcell } from "../stage/command.ts";
import { openStage, readRecords } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { told, verify } from "./written-log.ts";

const { refusalsShownPerMinute: shownMax, refusalsLoggedPerMinute: loggedMax, refusalKindsMax } = auditLimits;
const expired: Refusal = { surface: "http", reason: "token-expired", peer: "192.0.2.1" };
const none = { userId: null, peer: null };

let stage: RuntimeStage;
beforeEach(async () => {
  stage = await openStage({ plugins: [] });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await stage[Symbol.asyncDispose]();
});

const refuse = (times: number, more: object = {}): void => {
  for (let count = 0; count < times; count++) stage.runtime.refused({ ...expired, ...more });
};

/** The fields that only records of refusals have. */
const refusals = () =>
  readRecords(stage.logFile).flatMap((record) => {
    if (record.kind !== "refused") return [];
    const { surface, reason, userId, peer, times } = record;
    return [{ surface, reason, userId, peer, times }];
  });

test("a refusal is a record and a line at once, and the reader of the log sees it", async () => {
  refuse(1, { userId: "alice" });
  refuse(1, { surface: "mcp", reason: "session-unknown", peer: undefined });
  const unknown = { surface: "mcp", reason: "session-unknown", ...none, times: 1 };
  expect(refusals()).toEqual([{ ...expired, userId: "alice", times: 1 }, unknown]);
  const line = { level: "warn", userId: "", callId: "" };
  expect(stage.log).toEqual([
    { ...line, tool: "http", userId: "alice", text: "refused a request from 192.0.2.1: token-expired" },
    { ...line, tool: "mcp", text: "refused a request: session-unknown" },
  ]);
  vi.useRealTimers();
  await stage.runtime.close();
  expect(await verify(stage.logFile)).toMatchObject({ isIntact: true, records: 4 });
  const page = join(stage.folder, "page.html");
  const { status, stdout } = await memcell(["audit", "user-memory", "--log", stage.logFile, "--html", page]);
  expect(status).toBe(0);
  expect(stdout).toContain("\n2 requests refused before any tool was called\n");
  expect(readFileSync(page, "utf8")).toContain("2 requests were refused");
});

const unknown = { surface: "unknown", reason: "unknown", ...none, times: 1 };
const throwing = {
  get surface(): string {
    throw new Error("looked at");
  },
};

test.for<readonly [name: string, refusal: unknown, record: object]>([
  ["nothing", undefined, unknown],
  ["an object that throws when read", throwing, unknown],
  ["a surface with a colour", { ...expired, surface: "\u001b[31m" }, { ...unknown, ...expired, surface: "unknown" }],
  ["words in another format", { surface: "HTTP", reason: "a b" }, unknown],
  ["words with a line end", { surface: "http\n", reason: "a\nerror http: b" }, unknown],
  ["an invalid user", { ...expired, userId: "../bob" }, { ...unknown, ...expired }],
  ["a peer of two lines", { ...expired, peer: "192.0.2.1\nerror http: b" }, { ...unknown, ...expired, peer: null }],
  ["unknown fields", { ...expired, token: "secret", times: 9 }, { ...unknown, ...expired }],
])("records and tells the valid parts of a malformed refusal: %s", ([, refusal, record]) => {
  stage.runtime.refused(refusal as Refusal);
  expect(refusals()).toEqual([record]);
  expect(readFileSync(stage.logFile, "utf8")).not.toContain("secret");
  const text = expect.stringMatching(/^refused a request( from 192\.0\.2\.1)?: [a-z-]+$/) as string;
  expect(stage.log).toMatchObject([{ tool: expect.stringMatching(/^[a-z]+$/) as string, text, userId: "" }]);
});

test("a flood is recorded and told one by one up to a bound, and then counted by kind", async () => {
  refuse(shownMax);
  for (let at = 0; at < 3 * refusalKindsMax; at++) refuse(1, { reason: `reason-${at}`, userId: `user-${at}` });
  refuse(1, { reason: "reason-0" });
  expect(refusals()).toHaveLength(shownMax);
  expect(stage.log).toHaveLength(loggedMax);
  vi.useRealTimers();
  await stage.runtime.close();
  const counted = refusals().slice(shownMax);
  expect(counted).toHaveLength(refusalKindsMax + 1);
  expect(counted[0]).toEqual({ surface: "http", reason: "reason-0", ...none, times: 2 });
  expect(counted.at(-1)).toEqual({ surface: "others", reason: "others", ...none, times: 2 * refusalKindsMax });
  // Later ones have no effect.
  const { length } = stage.log;
  refuse(1);
  expect(stage.log).toHaveLength(length);
  expect(readRecords(stage.logFile).at(-1)).toMatchObject({ kind: "closed" });
});

test("the counts are written when the minute is over, then it begins from zero, and README.md shows the lines", () => {
  refuse(shownMax + 1);
  refuse(1199 + loggedMax - shownMax, { reason: "token-signature" });
  vi.advanceTimersByTime(59_999);
  expect([refusals().length, stage.log.length]).toEqual([shownMax, loggedMax]);
  vi.advanceTimersByTime(1);
  refuse(1);
  expect(
    refusals()
      .slice(shownMax)
      .map(({ times }) => times),
  ).toEqual([1, 1199 + loggedMax - shownMax, 1]);
  const lines = stage.log.map(({ level, tool, text }) => `${level} ${tool}: ${text}`);
  const readme = textOf("host/serve/http/README.md");
  const shown =
    blocksIn(readme)
      .find(({ text }) => text.startsWith("warn http: "))
      ?.text.split("\n") ?? [];
  expect(lines[0]).toBe(shown[0]);
  // oxlint-disable-next-line consistent-function-scoping -- belongs to this test alone
  const more = (count: number, reason: string): string =>
    `warn http: refused ${count} more requests in a minute: ${reason}`;
  expect(lines.slice(loggedMax)).toEqual([
    more(shownMax + 1 - loggedMax, "token-expired"),
    more(1199 + loggedMax - shownMax, "token-signature"),
    shown[0],
  ]);
  expect(shown[1]).toMatch(/^warn http: refused \d+ more requests in a minute: token-signature$/);
  expect(readme).toContain(`From the ${loggedMax + 1}st in a minute on`);
});

test("a log that cannot be written is told to the operator, and the missing records are written later", async () => {
  refuse(1);
  const whole = readFileSync(stage.logFile);
  writeFileSync(stage.logFile, Buffer.concat([whole, Buffer.from("x")]));
  refuse(1, { reason: "while-broken" });
  const text = expect.stringContaining("Cannot write the audit log") as string;
  expect(stage.log).toContainEqual(expect.objectContaining({ level: "error", text }));
  writeFileSync(stage.logFile, whole);
  refuse(1, { reason: "mended" });
  vi.useRealTimers();
  await stage.runtime.close();
  expect(refusals().map(({ reason }) => reason)).toEqual(["token-expired", "mended", "while-broken"]);
  expect(told(await verify(stage.logFile))).toEqual([]);
});

test("the runtime closes even if the log's end cannot be written, and refused() never throws", async () => {
  writeFileSync(stage.logFile, "somebody else's");
  expect(() => refuse(1)).not.toThrow();
  vi.useRealTimers();
  await stage.runtime.close();
  expect(stage.log.map(({ tool }) => tool)).toContain("log");
});

test("without a log, refused() tells the operator alone, and creates nothing", async () => {
  vi.useRealTimers();
  const unlogged = { auditLog: undefined } as unknown as object;
  await using other = await openStage({ plugins: [], ...unlogged });
  other.runtime.refused(expired);
  await other.runtime.close();
  expect(other.log).toHaveLength(1);
  expect(readdirSync(other.folder)).toEqual([]);
});
