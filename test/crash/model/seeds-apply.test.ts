/** All seeded bugs are run seldom, so this shows early that a change of the host has taken one away. */
import { expect, test } from "vitest";

import { hostFolder } from "../store-under-test.ts";
import { seededBugs, seededCode } from "./seeded-bugs.ts";

test("each seeded bug can be made", () => {
  for (const bug of seededBugs) expect(() => seededCode(hostFolder, bug)).not.toThrow();
});
