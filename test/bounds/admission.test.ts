/** The queue of waiting calls is bounded, and one user's flood keeps nobody else out. */
import { setImmediate } from "node:timers/promises";

import { memoryStore } from "memcell";
import type { ToolResult } from "memcell";
import { expect, test } from "vitest";

import { openDescriptors } from "../support/open-descriptors.ts";
import { clockStartMs, openBoundedStage } from "./bounded-stage.ts";
import type { BoundedStage } from "./bounded-stage.ts";

const busy = (reason: string): object => ({
  ok: false,
  error: { code: "BUSY", blame: "caller", retryable: true, message: `Cannot call Puppet: ${reason}` },
});
const gaveWay = busy("too many calls are waiting, and the user has the most of them");

/** Keeps the only thread busy until the returned function is called. */
async function occupy(stage: BoundedStage): Promise<() => Promise<void>> {
  const controller = new AbortController();
  const spinning = stage.spin("zoe", controller.signal);
  await stage.handedOut(1);
  return async () => {
    controller.abort();
    expect(await spinning).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  };
}

test("each user's queue has its own limit, and running calls do not count", async () => {
  await using stage = await openBoundedStage({ queuedCallsPerUserMax: 3 });
  const controller = new AbortController();
  const spinning = stage.spin("alice", controller.signal);
  await stage.handedOut(1);
  const waiting = ["1", "2", "3"].map((name) => stage.write("alice", name));
  expect(await stage.write("alice", "4")).toEqual(busy("3 calls of the user are waiting, at most 3 allowed"));
  const other = stage.write("bob", "1");
  controller.abort();
  expect(await spinning).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  for (const result of await Promise.all([...waiting, other])) expect(result).toMatchObject({ ok: true });
  expect(Object.keys(stage.filesOf("alice"))).toEqual(["memory/1", "memory/2", "memory/3"]);
  expect(await stage.write("alice", "5")).toMatchObject({ ok: true });
});

test("when the queue is full, the user with the most waiting calls gives way to one with fewer", async () => {
  await using stage = await openBoundedStage({ queuedCallsMax: 4 });
  const release = await occupy(stage);
  const calls = new Map<string, Promise<ToolResult>>();
  const call = (userId: string, name: string): void => void calls.set(name, stage.write(userId, name));
  const full = busy("4 calls are waiting, at most 4 allowed");

  for (const name of ["a1", "a2", "a3", "a4"]) call("alice", name);
  expect(await stage.write("alice", "a5")).toEqual(full);
  call("bob", "b1");
  expect(await calls.get("a4")).toEqual(gaveWay);
  call("bob", "b2");
  expect(await calls.get("a3")).toEqual(gaveWay);
  expect(await stage.write("bob", "b3")).toEqual(full);
  call("carol", "c1");
  expect(await calls.get("a2")).toEqual(gaveWay);
  call("dave", "d1");
  expect(await calls.get("b2")).toEqual(gaveWay);
  expect(await stage.write("erin", "e1")).toEqual(full);

  await release();
  const left = [
    ["alice", "a1"],
    ["bob", "b1"],
    ["carol", "c1"],
    ["dave", "d1"],
  ] as const;
  for (const [userId, name] of left) {
    expect(await calls.get(name)).toMatchObject({ ok: true });
    expect(stage.filesOf(userId)).toEqual({ [`memory/${name}`]: `of ${name}` });
  }
});

test("limits the inputs of waiting calls, and as few as possible of the user with the most bytes give way", async () => {
  await using stage = await openBoundedStage();
  const release = await occupy(stage);
  const controller = new AbortController();
  let gaveWayCount = 0;
  const send = async (userId: string, kibibytes: number): Promise<ToolResult> => {
    // With its quotes and brackets.
    const input = ["x".repeat(kibibytes * 1024 - 4)];
    const result = await stage.runtime.call("Puppet", input, { userId, signal: controller.signal });
    if (!result.ok && result.error.code === "BUSY") gaveWayCount++;
    return result;
  };
  const ofBob = Array.from({ length: 20 }, (_, at) => stage.write("bob", `${at}`));
  // All but Bob's bytes fit into 64 MiB.
  const large = Array.from({ length: 126 }, () => send("alice", 512));
  const [older, newer] = [send("alice", 256), send("alice", 256)];
  const ofCarol = send("carol", 512);
  expect(await newer).toEqual(gaveWay);
  expect(gaveWayCount).toBe(1);
  // This one needs more than the next newest has.
  const ofDave = send("dave", 512);
  expect([await older, await large.at(-1)]).toEqual([gaveWay, gaveWay]);
  expect(gaveWayCount).toBe(3);
  expect(await send("alice", 512)).toMatchObject({
    ok: false,
    error: {
      code: "BUSY",
      message: expect.stringMatching(/: \d+ bytes of input are waiting, at most 67108864 allowed$/),
    },
  });
  controller.abort();
  for (const result of await Promise.all([...large.slice(0, -1), ofCarol, ofDave])) {
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  }
  await release();
  for (const result of await Promise.all(ofBob)) expect(result).toMatchObject({ ok: true });
});

test("a quiet user's call does not wait for another user's flood", async () => {
  // In memory: how many calls of Alice end while Bob's files are opened would depend on the disk.
  await using stage = await openBoundedStage({ store: memoryStore() });
  const release = await occupy(stage);
  const flood = Array.from({ length: 128 }, (_, at) => stage.write("alice", `${at}.md`));
  const ask = { of: "clock_now", ask: {} };
  const quiet = stage.runtime.call("Puppet", [ask], { userId: "bob" });
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  await release();
  // The clock counts what threads are given: first Zoe's call, then one of Alice's, which came before Bob's.
  const [, begunMs] = /"epochMs\D+(\d+)/.exec(JSON.stringify(await quiet)) ?? [];
  expect(Number(begunMs) - clockStartMs).toBe(3);
  for (const result of await Promise.all(flood)) expect(result).toMatchObject({ ok: true });
});

test("users who wait for a thread do not use up all descriptors", async () => {
  await using stage = await openBoundedStage({ durability: "relaxed" });
  const users = Array.from({ length: 110 }, (_, at) => `user-${at}`);
  const writeAll = (path: string): Promise<ToolResult>[] => users.map((userId) => stage.write(userId, path));
  await Promise.all(writeAll("first.md"));
  const release = await occupy(stage);
  const calls = writeAll("second.md");
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  // Six for each of 64 users who wait, and of 32 whose sessions are kept from before.
  expect(openDescriptors(stage.dataDir).length).toBeLessThanOrEqual(6 * (64 + 32) + 1);
  await release();
  for (const result of await Promise.all(calls)) expect(result).toMatchObject({ ok: true });
});
