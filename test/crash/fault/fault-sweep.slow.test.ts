/** A disk that fails in all scenarios but those of `fault-sweep.test.ts`. */
import { isFaultSample, scenarios } from "../kill/scenarios.ts";
import { testFaults } from "./fault-suite.ts";

testFaults(scenarios.filter((scenario) => !isFaultSample(scenario)));
