import { MessageChannel } from "node:worker_threads";

import { expect, test } from "vitest";

import { CapabilityTrail } from "../../host/audit/collect/capability-trail.ts";
import { closeTrail, newTrail, runningMs, stampStart } from "../../host/audit/collect/trail-memory.ts";
import { withinBounds } from "../../host/thread/bounded-task.ts";
import type { TaskBounds } from "../../host/thread/bounded-task.ts";
import { ToolError } from "../stage/store.ts";

/** A task that the test controls. */
class TestTask {
  readonly trail = newTrail();
  kills = 0;
  answer: (text: string) => void = () => {};
  #fail: (error: Error) => void = () => {};
  readonly reply = new Promise<string>((resolve, reject) => {
    this.answer = resolve;
    this.#fail = reject;
  });

  runningMs(): number | null {
    return runningMs(this.trail);
  }

  close(): void {
    closeTrail(this.trail);
  }

  kill(): void {
    this.kills++;
    this.#fail(new Error("The thread was terminated"));
  }

  /** Whether the guest is told to stop. */
  get isStopped(): boolean {
    return new CapabilityTrail(this.trail).isClosed;
  }
}

const boundsOf = (bounds: Partial<TaskBounds> = {}): TaskBounds => ({
  name: "X",
  deadlineMs: 20,
  until: performance.now() + 60_000,
  signal: new AbortController().signal,
  ...bounds,
});

/** Resolves after a timer of this length, and all timers set before it, have fired. */
const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

test("withinBounds: does not charge a task that has not started", async () => {
  const task = new TestTask();
  const bounded = withinBounds(task, boundsOf());
  await after(100);
  task.answer("done");
  expect(await bounded).toBe("done");
  expect(task.kills).toBe(0);
});

test("withinBounds: a task that starts late has its whole deadline from then on", async () => {
  const task = new TestTask();
  const bounded = withinBounds(task, boundsOf({ deadlineMs: 100 })).catch((error: ToolError) => error.code);
  await after(60);
  expect(task.isStopped).toBe(false);
  stampStart(task.trail);
  const startMs = performance.now();
  expect(await bounded).toBe("DEADLINE_EXCEEDED");
  // Timers can fire a millisecond early.
  expect(performance.now() - startMs).toBeGreaterThan(98);
  expect(task.kills).toBe(1);
});

test("withinBounds: a task that never starts is BUSY", async () => {
  const task = new TestTask();
  const bounded = withinBounds(task, boundsOf({ until: performance.now() + 50 }));
  await expect(bounded).rejects.toMatchObject({ code: "BUSY", message: "Cannot finish X: no thread was free in time" });
  expect(task.kills).toBe(1);
});

test("withinBounds: accepts a reply that arrived while the main thread was blocked", async () => {
  const { port1, port2 } = new MessageChannel();
  const task = new TestTask();
  port2.once("message", task.answer);
  stampStart(task.trail);
  const bounded = withinBounds(task, boundsOf());
  port1.postMessage("done");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  expect(await bounded).toBe("done");
  expect(task.kills).toBe(0);
  port1.close();
});

test("withinBounds: after the main thread was blocked, a task that waited for it has a moment to end", async () => {
  const { port1, port2 } = new MessageChannel();
  const task = new TestTask();
  // It ends after an answer from this thread, which is blocked.
  port2.once("message", () => void setTimeout(() => task.answer("done"), 5));
  stampStart(task.trail);
  const bounded = withinBounds(task, boundsOf());
  port1.postMessage("a question");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  expect(await bounded).toBe("done");
  expect(task.kills).toBe(0);
  port1.close();
});

test("withinBounds: a cancelled task is told to stop, and has a moment for it", async () => {
  const controller = new AbortController();
  const task = new TestTask();
  stampStart(task.trail);
  const bounded = withinBounds(task, boundsOf({ deadlineMs: 10_000, signal: controller.signal }));
  controller.abort(new ToolError("CANCELLED", "so"));
  expect(task.isStopped).toBe(true);
  task.answer("stopped");
  await expect(bounded).rejects.toMatchObject({ code: "CANCELLED", message: "so" });
  await after(100);
  expect(task.kills).toBe(0);
});

test("withinBounds: a task at its deadline is told to stop, and has a moment for it", async () => {
  const task = new TestTask();
  stampStart(task.trail);
  const bounded = withinBounds(task, boundsOf()).catch((error: ToolError) => error.code);
  await after(40);
  expect(task.isStopped).toBe(true);
  task.answer("stopped");
  expect(await bounded).toBe("DEADLINE_EXCEEDED");
  await after(100);
  expect(task.kills).toBe(0);
});

test("withinBounds: terminates a cancelled task that does not end", async () => {
  const controller = new AbortController();
  const task = new TestTask();
  stampStart(task.trail);
  const bounded = withinBounds(task, boundsOf({ deadlineMs: 10_000, signal: controller.signal }));
  controller.abort(new ToolError("CANCELLED", "so"));
  await expect(bounded).rejects.toMatchObject({ code: "CANCELLED", message: "so" });
  expect(task.kills).toBe(1);
});
