/** A guest that never answers, and has no fuel: its thread is ended, and another one serves the next call. */
import { expect, test } from "vitest";

import { writeGuest } from "../support/write-guest.ts";
import { openGuestStage } from "./guest-stage.ts";

/** Time enough for a call of Bob on a busy machine. */
const options = { threadsMax: 1, deadlineMs: 1_000 };

test("a guest that spins is DEADLINE_EXCEEDED, each time, and the next call is served", async () => {
  const stage = await openGuestStage((folder) => [writeGuest(folder, "spinner", { Spin: "spin" })], options);
  for (let again = 0; again < 2; again++) {
    const result = await stage.misbehave("Spin");
    expect(result).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED", blame: "guest", retryable: true } });
    await stage.expectHarmless();
  }
  await stage.close();
});
