/** Other disk failures in all scenarios. With `TEST_LONG=1`, `fault-sweep.test.ts` takes all. */
import { isLong } from "../../stage/seed.ts";
import { testFaults } from "./fault-suite.ts";

testFaults((all) => (isLong ? all.slice(0, 1) : all), "others");
