/**
 * A guest whose call has ended stops on its own and keeps its thread. A guest that does not stop costs its user a thread,
 * and nobody else.
 */
import type { ToolResult } from "memcell";
import { expect, onTestFinished, test } from "vitest";

import { killsPerMinute } from "../../host/call/killed-guests.ts";
import { openBoundedStage, until } from "./bounded-stage.ts";
import type { BoundedStage } from "./bounded-stage.ts";

/** Counts the threads that are started from now on. */
function startedThreads(): { readonly count: number } {
  const started = { count: 0 };
  const add = (): void => void started.count++;
  process.on("worker", add);
  onTestFinished(() => void process.off("worker", add));
  return started;
}

const call = (
  stage: BoundedStage,
  userId: string,
  steps: readonly object[],
  signal?: AbortSignal,
): Promise<ToolResult> => stage.runtime.call("Puppet", steps, { userId, signal });

const endless = [
  { name: "spins", step: { spin: true } },
  { name: "spins in a regular expression", step: { backtrack: true } },
  ...["catch", "finally", "promise", "iterator"].map((place) => ({
    name: `spins behind a ${place}`,
    step: { spinBehind: place },
  })),
];

test.for(endless)("a cancelled guest that $name keeps its thread", async ({ step }) => {
  await using stage = await openBoundedStage();
  expect(await stage.write("bob", "warm.md")).toMatchObject({ ok: true });
  const started = startedThreads();
  for (let at = 1; at <= 5; at++) {
    const controller = new AbortController();
    const spinning = call(stage, "alice", [step], controller.signal);
    await stage.handedOut(at + 1);
    controller.abort();
    expect(await spinning).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  }
  expect(await stage.write("alice", "after.md")).toMatchObject({ ok: true });
  expect(await stage.write("bob", "after.md")).toMatchObject({ ok: true });
  expect(started.count).toBe(0);
});

test.for(endless)("a guest that $name keeps its thread at its deadline", async ({ step }) => {
  await using stage = await openBoundedStage({ deadlineMs: 200 });
  expect(await stage.write("bob", "warm.md")).toMatchObject({ ok: true });
  const started = startedThreads();
  expect(await call(stage, "alice", [step])).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
  expect(await stage.write("alice", "after.md")).toMatchObject({ ok: true });
  expect(started.count).toBe(0);
  expect(Object.keys(stage.filesOf("alice"))).toEqual(["memory/after.md"]);
});

test("a user whose guests do not stop is refused after a number of threads, and others are served", async () => {
  await using stage = await openBoundedStage({ deadlineMs: 200 });
  expect(await stage.write("bob", "warm.md")).toMatchObject({ ok: true });
  const started = startedThreads();
  for (let at = 0; at < killsPerMinute; at++) {
    expect(await stage.spin("alice")).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
    expect(started.count).toBe(at + 1);
  }
  for (const refused of [await stage.spin("alice"), await stage.write("alice", "a.md")]) {
    expect(refused).toMatchObject({ ok: false, error: { code: "BUSY", retryable: true } });
  }
  expect(started.count).toBe(killsPerMinute);
  expect(await stage.spin("mallory")).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
});

test("with warm threads, all are started at once, and one that stands by", async () => {
  const started = startedThreads();
  // Long enough for the guest to begin on a busy machine: one that has not begun stops on its own.
  await using stage = await openBoundedStage({ threadsMax: 2, warmThreads: true, deadlineMs: 1_000 });
  await until(() => started.count >= 3);
  expect(await stage.spin("alice")).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
  expect(started.count).toBe(4);
  const served = ["bob", "carol"].map((user) => stage.write(user, "a.md"));
  for (const result of await Promise.all(served)) expect(result).toMatchObject({ ok: true });
  expect(started.count).toBe(4);
});
