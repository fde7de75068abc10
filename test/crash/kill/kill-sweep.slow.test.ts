/** Kills at other points in all scenarios. With `TEST_LONG=1`, `kill-sweep.test.ts` takes all. */
import { isLong, othersIn } from "../../stage/seed.ts";
import { testKills } from "./kill-suite.ts";

testKills({
  scenarios: (all) => (isLong ? all.slice(0, 1) : all),
  points: (all) => (isLong ? all.slice(0, 1) : othersIn(Math.ceil(all.length / 3), 2, all)),
});
