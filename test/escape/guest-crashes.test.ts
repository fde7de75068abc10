/** Guests that crash, in every way that WebAssembly has: each is one coded error, and the next call is served. */
import { afterAll, beforeAll, expect, test } from "vitest";

import { traps } from "../guests/traps.ts";
import { writeGuest } from "../support/write-guest.ts";
import { openGuestStage } from "./guest-stage.ts";
import type { GuestStage } from "./guest-stage.ts";

const recursions = { Recurse: "recurse", RecurseWide: "recurse_wide", RecurseIndirect: "recurse_indirect" };
const growths = { GrowAndTrap: "grow_and_trap", GrowAndAnswer: "grow_and_answer" };

let stage: GuestStage;
beforeAll(async () => {
  stage = await openGuestStage((folder) => [
    writeGuest(folder, "trapper", traps),
    writeGuest(folder, "recurser", recursions),
    writeGuest(folder, "grower", growths),
  ]);
});
afterAll(() => stage.close());

test.for([
  ...Object.keys(traps).map((tool) => ({ tool, code: "GUEST_TRAPPED" })),
  ...Object.keys(recursions).map((tool) => ({ tool, code: "GUEST_TRAPPED" })),
  { tool: "GrowAndTrap", code: "MEMORY_EXCEEDED" },
])("a guest that does $tool is $code", async ({ tool, code }) => {
  for (let again = 0; again < 3; again++) {
    expect(await stage.misbehave(tool)).toMatchObject({ ok: false, error: { code, blame: "guest" } });
    await stage.expectHarmless();
  }
});

test("the log entry about a crash contains no host path", () => {
  expect(stage.log.length).toBeGreaterThan(0);
  expect(stage.log.filter(({ text }) => text.includes(stage.dataDir))).toEqual([]);
});

test("a guest that takes all its allowed memory and answers succeeds", async () => {
  for (let again = 0; again < 3; again++) {
    expect(await stage.misbehave("GrowAndAnswer")).toMatchObject({ ok: true, data: 4 });
    await stage.expectHarmless();
  }
});
