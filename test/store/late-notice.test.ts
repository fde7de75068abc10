/** The main thread stores a flag and then notifies: the notice can come when the thread waits for its next answer. */
import { expect, test } from "vitest";

import { askThread, StoreStage, write } from "./store-stage.ts";

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
  const answers = await askThread(thread, {
    userId: "alice",
    questions: [
      ["read", "memory", "a.md"],
      ["sizeOf", "memory", "b.md"],
      ["read", "memory", "b.md"],
    ],
  });
  expect(answers).toEqual([{ value: "one" }, { value: 3 }, { value: "two" }]);
});
