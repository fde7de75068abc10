/** A thread can be terminated at any moment, even while it waits for an answer, without harming others. */
import { EventEmitter, once } from "node:events";

import { describe, expect, test } from "vitest";

import { askThread, storeKinds, StoreStage, write } from "./store-stage.ts";

describe.each(storeKinds)("%s", (kind) => {
  test("threads terminated while they read do not block the user", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one")]);
    for (let round = 0; round < 8; round++) {
      const thread = stage.startThread();
      thread.postMessage(
        {
          userId: "alice",
          questions: [
            ["read", "memory", "a.md"],
            ["list", "memory", ""],
          ],
          isEndless: true,
        },
        [],
      );
      await once(thread, "message");
      await stage.commit("alice", [write("a.md", `round ${round}`)]);
      await thread.terminate();
      expect(await stage.askAnother("alice", ["read", "memory", "a.md"])).toEqual([{ value: `round ${round}` }]);
    }
  });

  test("threads read at the same time, each its own user's files", async () => {
    await using stage = await StoreStage.open(kind);
    const users = ["alice", "bob", "carol", "dave"];
    await Promise.all(users.map((userId) => stage.commit(userId, [write("a.md", `of ${userId}`)])));
    const answers = users.map((userId) =>
      stage.askAnother(userId, ...Array.from({ length: 200 }, () => ["read", "memory", "a.md"] as const)),
    );
    for (const [at, answer] of (await Promise.all(answers)).entries()) {
      expect(new Set(answer.map((each) => JSON.stringify(each)))).toEqual(new Set([`{"value":"of ${users[at]}"}`]));
    }
  });
});

test("a thread waiting for an answer that never comes can be terminated, and the main thread goes on meanwhile", async () => {
  await using stage = await StoreStage.open("memoryStore");
  const events = new EventEmitter();
  const asked = once(events, "asked");
  const thread = stage.startThread(({ port }) => void port.once("message", () => events.emit("asked")));
  thread.postMessage({ userId: "alice", questions: [["read", "memory", "a.md"]] }, []);
  await asked;
  await stage.commit("alice", [write("a.md", "meanwhile")]);
  await thread.terminate();
  const questions = [["read", "memory", "a.md"]] as const;
  expect(await askThread(stage.startThread(), { userId: "alice", questions })).toEqual([{ value: "meanwhile" }]);
});
