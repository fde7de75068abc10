/** A twentieth of the disk failures in an eighth of the scenarios. `fault-sweep.slow.test.ts` has others. */
import { isLong, oneIn } from "../../stage/seed.ts";
import { testFaults } from "./fault-suite.ts";

const isWhole = isLong || process.env["TEST_SEEDED"] === "1";

testFaults((all) => oneIn(8, all), isWhole ? "all" : "sample");
