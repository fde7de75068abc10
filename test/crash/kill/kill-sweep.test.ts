/** Kills in a sample of the scenarios: a change, and a recovery. `kill-sweep.slow.test.ts` has the others. */
import { testKills } from "./kill-suite.ts";
import { isKillSample, scenarios } from "./scenarios.ts";

testKills(scenarios.filter(isKillSample));
