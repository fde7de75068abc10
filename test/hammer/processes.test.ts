/** Some calls of several processes on one data folder. `processes.slow.test.ts` makes the others. */
import { test } from "vitest";

import { expectNothingLost } from "./hammer-processes.ts";

test("1,600 calls of 32 callers in 4 processes on 20 users", async () => {
  await expectNothingLost(50);
});
