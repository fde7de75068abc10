/**
 * A guest whose call has ended stops on its own and keeps its thread. A guest that does not stop costs its user a thread,
 * and nobody else.
 */
import { expect, onTestFinished, test } from "vitest";

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

/** Steps of the puppet that never end. */
const endless = [
  { spin: true },
  { backtrack: true },
  ...["catch", "finally", "promise", "iterator"].map((place) => ({ spinBehind: place })),
];

/**
 * How many threads guests cost that spin, one after the other, until one costs none, at most three. One that cannot stop
 * costs its thread each time. One that can costs it only if the machine is so busy that the guest does not run for 50 ms.
 */
async function threadCosts(stage: BoundedStage, spin: () => Promise<void>): Promise<number[]> {
  const started = startedThreads();
  const costs: number[] = [];
  while (costs.length < 3 && costs.at(-1) !== 0) {
    const before = started.count;
    await spin();
    for (const user of ["alice", "bob"]) expect(await stage.write(user, "after.md")).toMatchObject({ ok: true });
    costs.push(started.count - before);
  }
  return costs;
}

test.for(endless)("a cancelled guest keeps its thread: %j", async (step) => {
  await using stage = await openBoundedStage();
  expect(await stage.write("bob", "warm.md")).toMatchObject({ ok: true });
  const costs = await threadCosts(stage, async () => {
    const controller = new AbortController();
    const before = stage.tasks();
    const spinning = stage.runtime.call("Puppet", [step], { userId: "alice", signal: controller.signal });
    await stage.handedOut(before + 1);
    controller.abort();
    expect(await spinning).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  });
  expect(costs).toContain(0);
});

test.for([{ spin: true }, { spinBehind: "promise" }])("a guest keeps its thread at its deadline: %j", async (step) => {
  // The calls that do not spin have this deadline as well: long enough for them on a busy machine. A guest that spins has
  // used up its fuel after about 1,000 ms.
  await using stage = await openBoundedStage({ deadlineMs: 400 });
  expect(await stage.write("bob", "warm.md")).toMatchObject({ ok: true });
  const costs = await threadCosts(stage, async () => {
    const spinning = stage.runtime.call("Puppet", [step], { userId: "alice" });
    expect(await spinning).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
  });
  expect(costs).toContain(0);
  expect(Object.keys(stage.filesOf("alice"))).toEqual(["memory/after.md"]);
});

test("a user whose guests do not stop is refused after ten threads in a minute, and others are served", async () => {
  await using stage = await openBoundedStage({}, 200);
  expect(await stage.write("bob", "warm.md")).toMatchObject({ ok: true });
  const started = startedThreads();
  let refused = await stage.spin("alice");
  // A guest that has not begun before its deadline, on a busy machine, stops on its own and costs nothing.
  while (!refused.ok && refused.error.code === "DEADLINE_EXCEEDED") refused = await stage.spin("alice");
  expect(started.count).toBe(10);
  for (const result of [refused, await stage.write("alice", "a.md")]) {
    expect(result).toMatchObject({ ok: false, error: { code: "BUSY", retryable: true } });
  }
  expect(started.count).toBe(10);
  expect(await stage.spin("mallory")).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
});

test("with warm threads, all are started at once, and one that stands by", async () => {
  const started = startedThreads();
  // Long enough for the guest to begin on a busy machine: one that has not begun stops on its own.
  await using stage = await openBoundedStage({ threadsMax: 2, warmThreads: true }, 1_000);
  await until(() => started.count >= 3);
  expect(await stage.spin("alice")).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
  expect(started.count).toBe(4);
  const served = ["bob", "carol"].map((user) => stage.write(user, "a.md"));
  for (const result of await Promise.all(served)) expect(result).toMatchObject({ ok: true });
  expect(started.count).toBe(4);
});
