/** All scripts of the model but those of `model.test.ts`. */
import { slowScripts, testScripts } from "./model-suite.ts";

testScripts(slowScripts, 4_000);
