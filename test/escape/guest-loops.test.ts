/** Guests that never answer and never poll for fuel: their thread is stopped, and another one serves the next call. */
import { expect, test } from "vitest";

import { writeGuest } from "../support/write-guest.ts";
import { openGuestStage } from "./guest-stage.ts";

/** Enough time for Bob's call on a busy machine. */
const options = { threadsMax: 1, deadlineMs: 1_000 };

const tools = { Loop: "loop", LoopInHost: "loop_in_host", LoopInEngine: "loop_in_engine" };

test.for(Object.keys(tools))("a guest that does %s is DEADLINE_EXCEEDED, and the next call is served", async (tool) => {
  const stage = await openGuestStage((folder) => [writeGuest(folder, "looper", tools)], options);
  for (let again = 0; again < 2; again++) {
    const result = await stage.misbehave(tool);
    expect(result).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED", blame: "guest", retryable: true } });
    await stage.expectHarmless();
  }
  await stage.close();
});
