/** A program that computes for longer than a call may take: that is no time of the guest, whose answer counts. */
import { setImmediate } from "node:timers/promises";

import { createRuntime, fileStore, memoryStore } from "memcell";
import { expect, test } from "vitest";

import { block } from "../bounds/bounded-stage.ts";
import { oneIn } from "../stage/seed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const deadlineMs = 400;

// A store in memory is read through this thread, so a guest waits for it and then has a moment to end.
test.for(["fileStore", "memoryStore"] as const)(
  "%s: a call is answered after its program was blocked",
  async (kind) => {
    using folder = temporaryFolder();
    const store = kind === "fileStore" ? fileStore({ dir: folder.path }) : memoryStore();
    await using runtime = await createRuntime({ store, threadsMax: 1, deadlineMs });
    const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };
    expect(await runtime.call("UpdateUserMemory", entry, { userId: "alice" })).toMatchObject({ ok: true });
    for (const turns of oneIn(3, [0, 1, 2, 3, 4, 5])) {
      const answer = runtime.call("ReadUserMemory", { name: "a" }, { userId: "alice" });
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      block(deadlineMs + 300);
      expect(await answer).toMatchObject({ ok: true });
    }
  },
);
