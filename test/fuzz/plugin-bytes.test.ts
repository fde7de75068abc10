/** Some plugin files with a few bytes changed. `plugin-bytes.slow.test.ts` tries the others. */
import { testPluginBytes } from "./plugin-bytes.ts";

testPluginBytes({ from: 0, to: 400 });
