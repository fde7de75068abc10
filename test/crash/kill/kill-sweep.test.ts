/**
 * Kills in a sample of the scenarios: in a change at every call, in a recovery and an erasure by default at every third.
 * `kill-sweep.slow.test.ts` has the others.
 */
import { testKills } from "./kill-suite.ts";
import { isFaultSample, isKillSample, scenarios } from "./scenarios.ts";

testKills(scenarios.filter(isFaultSample));
testKills(
  scenarios.filter((scenario) => isKillSample(scenario) && !isFaultSample(scenario)),
  3,
);
