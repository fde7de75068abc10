/** A sample of the model's scripts. `model.slow.test.ts` takes a larger one; with `TEST_LONG=1` this takes all. */
import { oneIn } from "../../stage/seed.ts";
import { testScripts } from "./model-suite.ts";

testScripts((scripts) => oneIn(20, scripts));
