/** Other disk failures in half of the scenarios. With `TEST_LONG=1`, `fault-sweep.test.ts` takes all. */
import { isLong, oneIn } from "../../stage/seed.ts";
import { testFaults } from "./fault-suite.ts";

testFaults((all) => (isLong ? all.slice(0, 1) : oneIn(2, all)), "others");

testFaults((all) => all, "ownFolder", "nothing is left if the host's own folder cannot be looked at: $name");
