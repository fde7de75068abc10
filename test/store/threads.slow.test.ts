/** A thread can be terminated at any moment, even while it waits for an answer, without harming others. */
import { EventEmitter, once } from "node:events";

import { describe, expect, test } from "vitest";

import { askThread, homesIn, openEngines, remove, StoreStage, write } from "./store-stage.ts";

const engines = await openEngines();
const read = ["read", "memory", "a.md"] as const;

describe.each(engines)("$kind", (stage) => {
  test("threads terminated while they read do not block the user", async () => {
    for (let round = 0; round < 8; round++) {
      const thread = stage.startThread();
      thread.postMessage({ userId: "alice", questions: [read, ["list", "memory", ""]], isEndless: true }, []);
      await once(thread, "message");
      await stage.commit("alice", [write("a.md", `round ${round}`)]);
      await thread.terminate();
      expect(await stage.askAnother("alice", read)).toEqual([{ value: `round ${round}` }]);
    }
  });

  test("threads read at the same time, each its own user's files", async () => {
    const users = ["bob", "carol", "dave", "eve"];
    await Promise.all(users.map((userId) => stage.commit(userId, [write("a.md", `of ${userId}`)])));
    const reads = users.map((userId) => stage.askAnother(userId, ...Array.from({ length: 200 }, () => read)));
    for (const [at, answers] of (await Promise.all(reads)).entries()) {
      expect(new Set(answers.map((each) => JSON.stringify(each)))).toEqual(new Set([`{"value":"of ${users[at]}"}`]));
    }
  });
});

test("a thread waiting for an answer that never comes can be terminated, and the main thread goes on", async () => {
  await using stage = await StoreStage.open("memoryStore");
  const events = new EventEmitter();
  const asked = once(events, "asked");
  const thread = stage.startThread(({ port }) => void port.once("message", () => events.emit("asked")));
  thread.postMessage({ userId: "alice", questions: [read] }, []);
  await asked;
  await stage.commit("alice", [write("a.md", "meanwhile")]);
  await thread.terminate();
  expect(await askThread(stage.startThread(), { userId: "alice", questions: [read] })).toEqual([
    { value: "meanwhile" },
  ]);
});

/** The main thread stores a flag and then notifies: the notice can come when the thread waits for its next answer. */
test("a notice without an answer does not end a thread's wait", async () => {
  await using stage = await StoreStage.open("memoryStore");
  await stage.commit("alice", [write("a.md", "one"), write("b.md", "two")]);
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  const thread = stage.startThread((bridge) => {
    bridge.port.on("message", () => {
      Atomics.notify(new Int32Array(bridge.signal), 0);
      // Long enough for the thread to wake up.
      Atomics.wait(nobody, 0, 0, 20);
    });
    stage.definition.answerReads?.(bridge);
  });
  const questions = [read, ["sizeOf", "memory", "b.md"], ["read", "memory", "b.md"]] as const;
  const answers = await askThread(thread, { userId: "alice", questions });
  expect(answers).toEqual([{ value: "one" }, { value: 3 }, { value: "two" }]);
});

test.for(homesIn(engines))(
  "more than 20,000 files are not listed for a guest of $name, and can be reduced",
  { timeout: 120_000 },
  async ({ newHome }) => {
    const home = newHome();
    await home.commit(Array.from({ length: 20_001 }, (_, at) => write(`${at % 100}/${at}.md`, "")));
    expect(await home.ask(["list", "memory", ""])).toEqual([{ code: "QUOTA_EXCEEDED" }]);
    const lists = await home.hold(async ({ reader }) => [
      (await reader.list(home.scope, "")).length,
      (await reader.survey(home.scope)).files.length,
    ]);
    expect(lists).toEqual([20_001, 20_001]);
    expect(await home.ask(["list", "memory", "7/"])).toMatchObject([{ value: { length: 200 } }]);
    await home.commit([remove("0/0.md")]);
    expect(await home.ask(["list", "memory", ""])).toMatchObject([{ value: { length: 20_000 } }]);
  },
);
