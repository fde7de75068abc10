/** A sample of the model's scripts. `model.slow.test.ts` has the others. */
import { fastScripts, testScripts } from "./model-suite.ts";

testScripts(fastScripts, 1_000);
