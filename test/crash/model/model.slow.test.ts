/** Other scripts of the model than those of `model.test.ts`; all, if a seeded bug is to be found. */
import { isLong, othersIn } from "../../stage/seed.ts";
import { isSeeded, testScripts } from "./model-suite.ts";

testScripts((scripts) => (isSeeded ? scripts : isLong ? scripts.slice(0, 1) : othersIn(16, 6, scripts)));
