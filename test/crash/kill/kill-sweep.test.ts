/** Kills at a fifth of the points in an eighth of the scenarios. `kill-sweep.slow.test.ts` has others. */
import { oneIn } from "../../stage/seed.ts";
import { testKills } from "./kill-suite.ts";

const isSeeded = process.env["TEST_SEEDED"] === "1";

testKills({ scenarios: (all) => oneIn(8, all), points: (all) => (isSeeded ? all : oneIn(5, all)) });
