/**
 * Cancels calls at random moments. A call either returns `CANCELLED` and has written nothing, or returns its result and
 * has written everything. The audit log agrees. `TEST_SEED` repeats a run as far as threads and clocks allow.
 */
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import type { LogEntry, ToolResult } from "memcell";
import { expect, test } from "vitest";

import { readRecords } from "../audit/audited-stage.ts";
import type { AuditRecord } from "../stage/audit-log.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openBoundedStage, writing } from "./bounded-stage.ts";
import type { BoundedStage } from "./bounded-stage.ts";

const seed = Number(process.env["TEST_SEED"] ?? Date.now() % 1e6);
const random = seededRandom(seed);
const callsCount = 500;
const usersCount = 8;
/** Number of simultaneous calls. */
const atOnce = 25;

interface Outcome {
  readonly userId: string;
  readonly path: string;
  readonly result: ToolResult;
}

/** Cancels a call when its reply has come. The key is the path that its guest logs. */
const onReply = new Map<string, () => void>();
const onLog = ({ text }: LogEntry): void => onReply.get(text)?.();

test(`${callsCount} calls cancelled at random instants, seed ${seed}`, async () => {
  using logFolder = temporaryFolder();
  const logFile = join(logFolder.path, "audit.jsonl");
  await using stage = await openBoundedStage({ threadsMax: 2, onLog, auditLog: { file: logFile } });
  const outcomes: Outcome[] = [];
  const callers = Array.from({ length: atOnce }, async (_, caller) => {
    for (let call = caller; call < callsCount; call += atOnce) outcomes.push(await callAndCancel(stage, call));
  });
  await Promise.all(callers);
  expect(outcomes).toHaveLength(callsCount);

  for (const { userId, path, result } of outcomes) {
    if (!result.ok) expect(result.error.code).toBe("CANCELLED");
    const content = stage.filesOf(userId)[`memory/${path}`];
    expect(content, `${path} of ${userId}`).toBe(result.ok ? `of ${path}` : undefined);
  }
  const finished = outcomes.filter(({ result }) => result.ok).length;
  console.log(`seed ${seed}: ${finished} calls finished, ${callsCount - finished} were cancelled`);
  // Both outcomes must have occurred often enough.
  expect(finished).toBeGreaterThan(20);
  expect(callsCount - finished).toBeGreaterThan(20);
  const present = Array.from({ length: usersCount }, (_, user) => Object.keys(stage.filesOf(`user-${user}`)).length);
  expect(present.reduce((sum, count) => sum + count, 0)).toBe(finished);
  expectRecorded(outcomes, readRecords(logFile));
});

/** Each call has one record, which says `committed` exactly if its file exists. Its change set was recorded before. */
function expectRecorded(outcomes: readonly Outcome[], records: readonly AuditRecord[]): void {
  const calls = records.filter((record) => record.kind === "call");
  expect(calls.map(({ callId }) => callId).toSorted()).toEqual(outcomes.map(({ path }) => path).toSorted());
  for (const { path, userId, result } of outcomes) {
    const call = calls.find(({ callId }) => callId === path);
    expect(call).toMatchObject({ userId, code: result.ok ? null : "CANCELLED" });
    expect(call?.changes === "committed", path).toBe(result.ok);
    if (!result.ok) continue;
    const staged = records.find((record) => record.kind === "staged" && record.callId === path);
    expect(staged, path).toMatchObject({ writes: [{ scope: "memory", path, bytes: `of ${path}`.length }] });
    expect(staged?.seq).toBeLessThan(call?.seq ?? 0);
  }
}

/** One call in fifty never ends on its own. */
async function callAndCancel(stage: BoundedStage, call: number): Promise<Outcome> {
  const userId = `user-${Math.floor(random() * usersCount)}`;
  const path = `${call}.md`;
  const controller = new AbortController();
  const ctx = { userId, signal: controller.signal, callId: path };
  const cancel = (): void => controller.abort();
  const timer = call % 2 === 0 ? setTimeout(cancel, anyDelayMs()) : undefined;
  if (call % 50 === 49) setTimeout(cancel, anyDelayMs());
  onReply.set(path, () => void abortDuringCommit(cancel));
  const steps = call % 2 === 0 ? [writing(path)] : [writing(path), { log: path, times: 1 }];
  const calling = call % 50 === 49 ? stage.runtime.call("Spin", {}, ctx) : stage.runtime.call("Puppet", steps, ctx);
  const result = await calling;
  clearTimeout(timer);
  return { userId, path, result };
}

/** From 1 ms to 3 s, with a logarithmic distribution, because a call's time depends on the machine. */
const anyDelayMs = (): number => 3000 ** random();

/**
 * Cancels between the reply and the end of the commit: at once, after some promise steps, or after some turns of the
 * event loop.
 */
async function abortDuringCommit(cancel: () => void): Promise<void> {
  const [steps, turns] = [Math.floor(random() * 30), random() < 0.5 ? 0 : Math.floor(random() * 6)];
  if (steps === 0) return cancel();
  for (let step = 0; step < steps; step++) await Promise.resolve();
  for (let turn = 0; turn < turns; turn++) await setImmediate();
  cancel();
}
