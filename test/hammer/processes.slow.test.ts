/** Many calls of several processes on one data folder: none is lost, and no process starves. `TEST_SEEDED=1` makes a tenth of them. */
import { expect, test } from "vitest";

import { expectNothingLost } from "./hammer-processes.ts";

const callsCount = process.env["TEST_SEEDED"] ? 245 : 2_450;
/** The highest allowed ratio of two processes' median waits. A starving process waits many times as long. */
const medianRatioMax = 3;

test("78,400 calls of 32 callers in 4 processes on 20 users", { timeout: 1_800_000 }, async () => {
  expect(await expectNothingLost(callsCount)).toBeLessThan(medianRatioMax);
});
