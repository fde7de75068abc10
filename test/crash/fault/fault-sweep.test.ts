/** A few of the disk failures in an eighth of the scenarios. `fault-sweep.slow.test.ts` has others. */
import { isLong, oneIn } from "../../stage/seed.ts";
import { testFaults } from "./fault-suite.ts";

testFaults((all) => oneIn(8, all), isLong ? "all" : "sample");
