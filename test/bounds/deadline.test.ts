/** A guest that never returns is stopped by terminating its thread. Other users notice nothing. */
import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import { openDescriptors } from "../support/open-descriptors.ts";
import { block, burning, openBoundedStage } from "./bounded-stage.ts";
import type { BoundedStage } from "./bounded-stage.ts";

/** The spinner's own, in its manifest: what others write beside it has ten seconds. */
const deadlineMs = 300;

const exceeded = (ms = deadlineMs): object => ({
  ok: false,
  error: {
    code: "DEADLINE_EXCEEDED",
    blame: "guest",
    retryable: true,
    message: `Cannot finish Spin: it ran for over ${ms} ms`,
  },
});

test.for([
  { name: "a lower option", options: { deadlineMs: 200 }, endsMs: 200 },
  { name: "the manifest's, whatever a larger option says", options: { deadlineMs: 60_000 }, endsMs: deadlineMs },
])("the deadline is $name", async ({ options, endsMs }) => {
  await using stage = await openBoundedStage(options, deadlineMs);
  expect(await stage.spin("alice")).toEqual(exceeded(endsMs));
  expect(stage.filesOf("alice")).toEqual({});
});

test("the only thread is replaced, and everyone's next call works, again and again", async () => {
  await using stage = await openBoundedStage({}, deadlineMs);
  for (const round of [1, 2, 3]) {
    expect(await stage.spin("alice")).toEqual(exceeded());
    expect(await stage.write("alice", `a${round}.md`)).toMatchObject({ ok: true });
    expect(await stage.write("bob", `b${round}.md`)).toMatchObject({ ok: true });
  }
  expect(Object.keys(stage.filesOf("alice"))).toEqual(["memory/a1.md", "memory/a2.md", "memory/a3.md"]);
});

test("a program that blocks its event loop again and again does not put the deadline off", async () => {
  await using stage = await openBoundedStage({}, deadlineMs);
  const results: unknown[] = [];
  void stage.spin("alice").then((result) => results.push(result));
  // Each look at the guest comes late.
  for (; results.length === 0; await setImmediate()) block(200);
  expect(results).toEqual([exceeded()]);
});

test("other users' calls go on while a guest spins and when its thread is terminated", async () => {
  await using stage = await openBoundedStage({ threadsMax: 2 });
  const controller = new AbortController();
  const ended: string[] = [];
  const spinning = stage.spin("alice", controller.signal).finally(() => ended.push("alice"));
  await stage.handedOut(1);
  for (const path of ["1.md", "2.md"]) expect(await stage.write("bob", path)).toMatchObject({ ok: true });
  expect(ended).toEqual([]);
  controller.abort();
  const others = ["bob", "carol"].map((userId) => stage.write(userId, "x.md"));
  for (const result of await Promise.all(others)) expect(result).toMatchObject({ ok: true });
  expect(await spinning).toMatchObject({ error: { code: "CANCELLED" } });
});

test("several threads are terminated at once, and the waiting calls are served", async () => {
  await using stage = await openBoundedStage({ threadsMax: 2 }, deadlineMs);
  const spinning = ["u1", "u2", "u3"].map((userId) => stage.spin(userId));
  const writing = ["v1", "v2", "v3"].map((userId) => stage.write(userId, "a.md"));
  for (const result of await Promise.all(spinning)) expect(result).toEqual(exceeded());
  for (const result of await Promise.all(writing)) expect(result).toMatchObject({ ok: true });
});

test.for([
  { name: "that has just begun", begun: (stage: BoundedStage, tasks: number) => stage.handedOut(tasks) },
  { name: "that computes", begun: (stage: BoundedStage, tasks: number) => stage.handedOut(tasks).then(burning) },
])("terminated threads of a guest $name leave nothing open", async ({ begun }) => {
  await using stage = await openBoundedStage({ threadsMax: 2 });
  expect(await stage.write("alice", "a.md")).toMatchObject({ ok: true });
  const controller = new AbortController();
  const busy = ["alice", "bob"].map((userId) => stage.spin(userId, controller.signal));
  await begun(stage, 3);
  controller.abort();
  for (const result of await Promise.all(busy)) expect(result).toMatchObject({ error: { code: "CANCELLED" } });
  expect(await stage.write("alice", "a.md")).toMatchObject({ ok: true });
  await stage.runtime.close();
  expect(openDescriptors(stage.dataDir)).toEqual([]);
});

test("time in the queue does not count, and the clock is read when a thread is free", async () => {
  await using stage = await openBoundedStage({}, deadlineMs);
  const spinning = [stage.spin("alice"), stage.spin("alice"), stage.spin("bob")];
  // Waits for at least two deadlines: that of Alice's earlier call, and that of the only thread.
  const patient = stage.write("alice", "late.md");
  await stage.handedOut(1);
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  expect(stage.tasks()).toBe(1);
  for (const result of await Promise.all(spinning)) expect(result).toEqual(exceeded());
  expect(await patient).toMatchObject({ ok: true });
  expect(stage.tasks()).toBe(4);
  expect(Object.keys(stage.filesOf("alice"))).toEqual(["memory/late.md"]);
});

test("waiting for a thread has its own limit", async () => {
  await using stage = await openBoundedStage({ waitMs: 200 });
  const controller = new AbortController();
  const spinning = stage.spin("alice", controller.signal);
  await stage.handedOut(1);
  expect(await stage.write("bob", "a.md")).toMatchObject({
    ok: false,
    error: { code: "BUSY", retryable: true, message: expect.stringMatching(/no thread was free for \d+ ms/) },
  });
  controller.abort();
  expect(await spinning).toMatchObject({ error: { code: "CANCELLED" } });
  expect(stage.filesOf("bob")).toEqual({});
});
