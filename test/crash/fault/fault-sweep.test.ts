/** Disk failures in one scenario. `fault-sweep.slow.test.ts` has the others. */
import { isFaultSample, scenarios } from "../kill/scenarios.ts";
import { testFaults } from "./fault-suite.ts";

testFaults(scenarios.filter(isFaultSample));
