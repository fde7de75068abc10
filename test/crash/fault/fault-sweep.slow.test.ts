/** Disk failures in all scenarios except those of `fault-sweep.test.ts`. */
import { isFaultSample, scenarios } from "../kill/scenarios.ts";
import { testFaults } from "./fault-suite.ts";

testFaults(scenarios.filter((scenario) => !isFaultSample(scenario)));
