/** Kills in all scenarios except those of `kill-sweep.test.ts`. */
import { testKills } from "./kill-suite.ts";
import { isKillSample, scenarios } from "./scenarios.ts";

testKills(scenarios.filter((scenario) => !isKillSample(scenario)));
