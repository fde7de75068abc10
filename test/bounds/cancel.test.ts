/** A call can be cancelled at any stage and leaves nothing on disk. A commit that has begun finishes. */
import { EventEmitter, getEventListeners, once } from "node:events";
import { setImmediate } from "node:timers/promises";

import type { CallContext, ToolResult } from "memcell";
import { expect, onTestFinished, test } from "vitest";

import { openFiles } from "../stage/open-store.ts";
import type { UserId } from "../stage/store.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import { burning, openBoundedStage, writing } from "./bounded-stage.ts";
import type { BoundedStage } from "./bounded-stage.ts";

const cancelled = (tool: string): object => ({
  ok: false,
  error: {
    code: "CANCELLED",
    blame: "caller",
    retryable: true,
    message: expect.stringMatching(new RegExp(`^Cannot call "?${tool}"?: the caller cancelled it$`)),
  },
});

/** Waits some turns of the event loop, so that everything that can go on has gone on. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

test("cancels a call that waits for the user's own call, which goes on", async () => {
  await using stage = await openBoundedStage({}, 300);
  const spinning = stage.spin("alice");
  const controller = new AbortController();
  const waiting = stage.write("alice", "never.md", controller.signal);
  const behind = stage.write("alice", "behind.md");
  await stage.handedOut(1);
  controller.abort();
  expect(await waiting).toEqual(cancelled("Puppet"));
  expect(await spinning).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
  expect(await behind).toMatchObject({ ok: true });
  expect(Object.keys(stage.filesOf("alice"))).toEqual(["memory/behind.md"]);
});

test("cancels a call that waits for the user's lock, which another process holds", async () => {
  await using stage = await openBoundedStage();
  await stage.write("alice", "a.md");
  const gate = new EventEmitter();
  const other = openFiles(stage.dataDir);
  const options = { writes: true, until: performance.now() + 10_000 };
  const held = once(gate, "held");
  const holding = other.holdUser("alice" as UserId, options, () => {
    gate.emit("held");
    return once(gate, "open");
  });
  await held;
  const controller = new AbortController();
  const waiting = stage.write("alice", "never.md", controller.signal);
  await turns();
  controller.abort();
  expect(await waiting).toEqual(cancelled("Puppet"));
  gate.emit("open");
  await holding;
  await other.close();
  expect(await stage.write("alice", "b.md")).toMatchObject({ ok: true });
  expect(Object.keys(stage.filesOf("alice"))).toEqual(["memory/a.md", "memory/b.md"]);
});

test("cancels a call that waits for a thread", async () => {
  await using stage = await openBoundedStage({}, 300);
  const spinning = stage.spin("bob");
  await stage.handedOut(1);
  const controller = new AbortController();
  const waiting = stage.write("alice", "never.md", controller.signal);
  await turns();
  controller.abort();
  expect(await waiting).toEqual(cancelled("Puppet"));
  expect(await spinning).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
  expect(userFolderNames(stage.dataDir)).toEqual([]);
});

test("cancels a running call: the thread is terminated and replaced", async () => {
  await using stage = await openBoundedStage();
  await stage.write("bob", "a.md");
  const controller = new AbortController();
  const running = stage.spin("alice", controller.signal);
  await stage.handedOut(2);
  await burning();
  controller.abort();
  expect(await running).toEqual(cancelled("Spin"));
  expect(await stage.write("bob", "b.md")).toMatchObject({ ok: true });
  expect(userFolderNames(stage.dataDir)).toEqual(["bob"]);
});

/**
 * A call that writes a file and then logs. `onLog` is called when its reply has arrived and nothing is committed yet.
 */
async function callAndDo(stage: BoundedStage, signal: AbortSignal): Promise<ToolResult> {
  return stage.runtime.call("Puppet", [writing("a.md"), { log: "x", times: 1 }], { userId: "alice", signal });
}

test("cancels an answered call before the commit", async () => {
  const controller = new AbortController();
  await using stage = await openBoundedStage({ onLog: () => controller.abort() });
  expect(await callAndDo(stage, controller.signal)).toEqual(cancelled("Puppet"));
  expect(userFolderNames(stage.dataDir)).toEqual([]);
});

test("once the commit has begun, the call finishes and reports its success", async () => {
  const controller = new AbortController();
  await using stage = await openBoundedStage({ onLog: () => queueMicrotask(() => controller.abort()) });
  expect(await callAndDo(stage, controller.signal)).toMatchObject({ ok: true });
  expect(stage.filesOf("alice")).toEqual({ "memory/a.md": "of a.md" });
});

test("the same signal cancels memoryIndex and upkeep", async () => {
  await using stage = await openBoundedStage({ plugins: [shippedPlugin("user-memory")] });
  const ctx: CallContext = { userId: "alice", signal: AbortSignal.abort() };
  const { runtime } = stage;
  await runtime.call("UpdateUserMemory", upsert, { userId: "alice" });
  const operations: Record<string, () => Promise<unknown>> = {
    memoryIndex: () => runtime.memoryIndex(ctx),
    inspect: () => runtime.upkeep.inspect(ctx),
    mend: () => runtime.upkeep.mend(ctx),
    listTrash: () => runtime.upkeep.listTrash(ctx),
    restore: () => runtime.upkeep.restore(ctx, "x"),
    purge: () => runtime.upkeep.purge(ctx, { beforeEpochMs: Date.now() }),
  };
  for (const [name, operate] of Object.entries(operations)) {
    await expect(operate(), name).rejects.toMatchObject({ code: "CANCELLED" });
  }
});

const upsert = { action: "upsert", name: "x", type: "user", description: "d", body: "" };

test("refuses what is no signal with INPUT_INVALID, and cancels a call whose signal is already aborted", async () => {
  await using stage = await openBoundedStage();
  for (const [signal, value] of [
    [null, "null"],
    [true, "of type boolean"],
    [new AbortController(), "of type object"],
    [{ aborted: false }, "of type object"],
  ] as const) {
    expect(await stage.write("alice", "a.md", signal as unknown as AbortSignal)).toMatchObject({
      ok: false,
      error: { code: "INPUT_INVALID", issues: [{ field: "ctx.signal", value, allowed: "an AbortSignal or nothing" }] },
    });
  }
  expect(await stage.write("alice", "a.md", AbortSignal.abort())).toEqual(cancelled("Puppet"));
  expect(userFolderNames(stage.dataDir)).toEqual([]);
});

test("one signal for 1,000 calls causes no warning and leaves no listener", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  await using stage = await openBoundedStage({ threadsMax: 2 });
  const { signal } = new AbortController();
  const users = Array.from({ length: 100 }, (_, at) => `user-${at}`);
  const calls = users.flatMap((userId) =>
    Array.from({ length: 10 }, () => stage.runtime.call("Puppet", [], { userId, signal })),
  );
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const result of await Promise.all(calls)) expect(result).toMatchObject({ ok: true });
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await turns();
  expect(warnings).toEqual([]);
});

test("100 cancelled calls leave no listener, at whatever stage they were", async () => {
  await using stage = await openBoundedStage();
  const controller = new AbortController();
  const { signal } = controller;
  const calls = Array.from({ length: 100 }, (_, at) => stage.write(`user-${at % 10}`, `${at}.md`, signal));
  await stage.handedOut(3);
  controller.abort();
  const results = await Promise.all(calls);
  expect(results.filter(({ ok }) => !ok)).not.toHaveLength(0);
  for (const result of results) if (!result.ok) expect(result).toEqual(cancelled("Puppet"));
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
