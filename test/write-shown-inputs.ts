/** The end of `npm run test:long`: records which files its suites have been shown for. */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { presentInputs } from "./shown-inputs.ts";

const root = dirname(createRequire(import.meta.url).resolve("memcell/package.json"));
writeFileSync(join(root, "test", "shown-inputs.json"), presentInputs());
