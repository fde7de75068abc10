/** Kills at a few points in an eighth of the scenarios. `kill-sweep.slow.test.ts` has others. */
import { oneIn } from "../../stage/seed.ts";
import { testKills } from "./kill-suite.ts";

testKills({ scenarios: (all) => oneIn(8, all), points: (all) => oneIn(Math.ceil(all.length / 6), all) });
