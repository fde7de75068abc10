/** Other scripts of the model than those of `model.test.ts`. */
import { isLong, othersIn } from "../../stage/seed.ts";
import { testScripts } from "./model-suite.ts";

testScripts((scripts) => (isLong ? scripts.slice(0, 1) : othersIn(20, 3, scripts)));
