/** Kills in all scenarios except those of `kill-sweep.test.ts`, by default at every fifth call. */
import { testKills } from "./kill-suite.ts";
import { isKillSample, scenarios } from "./scenarios.ts";

testKills(
  scenarios.filter((scenario) => !isKillSample(scenario)),
  5,
);
