/** More plugin files with a few bytes changed. `plugin-bytes.test.ts` tries the first ones. */
import { testPluginBytes } from "./plugin-bytes.ts";

testPluginBytes({ from: 400, to: 2_000 });
