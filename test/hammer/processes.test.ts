/** Some calls of several processes on one data folder. `processes.slow.test.ts` makes the others. */
import { test } from "vitest";

import { expectNothingLost } from "./hammer-processes.ts";

test("4 processes with 32 callers make 1,600 calls for 20 users without a fault", async () => {
  await expectNothingLost(50);
});
