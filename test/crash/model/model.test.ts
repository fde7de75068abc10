/** A sample of the model's scripts. `model.slow.test.ts` takes a larger one; with `TEST_LONG=1` this takes all. */
import { expect, test } from "vitest";

import { oneIn } from "../../stage/seed.ts";
import { hostFolder } from "../store-under-test.ts";
import { testFoundBefore, testScripts } from "./model-suite.ts";
import { seededBugs, seededCode } from "./seeded-bugs.ts";

testScripts((scripts) => oneIn(20, scripts));
testFoundBefore();

// They are run seldom, so this shows early that a change of the host has taken one away.
test("each seeded bug can be made", () => {
  for (const bug of seededBugs) expect(() => seededCode(hostFolder, bug)).not.toThrow();
});
