/** Many calls of several processes on one data folder: no process starves. `TEST_SEEDED=1` makes a tenth of them. */
import { expect, test } from "vitest";

import { expectNothingLost } from "./hammer-processes.ts";

test("4 processes with 32 callers make 1,600 calls for 20 users without a fault", async () => {
  await expectNothingLost(50);
});

const callsCount = process.env["TEST_SEEDED"] ? 245 : 2_450;
/** The highest allowed ratio of two processes' median waits. A starving process waits many times as long. */
const medianRatioMax = 3;

test("4 processes with 32 callers make 78,400 calls for 20 users without a fault", { timeout: 1_800_000 }, async () => {
  expect(await expectNothingLost(callsCount)).toBeLessThan(medianRatioMax);
});
