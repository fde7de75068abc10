/** The run of all seeded bugs takes half an hour, so this shows early that a change of the host has taken one away. */
import { test } from "vitest";

import { hostFolder } from "../host-under-test.ts";
import { seededBugs } from "./bugs.ts";
import { seededCode } from "./seed-host.ts";

test.for(seededBugs)("the seeded bug can be made: $name", (bug, { expect }) => {
  expect(() => seededCode(hostFolder, bug)).not.toThrow();
});
