/** The end of `npm run test:long`: records which files its suites have been shown for. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { presentInputs } from "./shown-inputs.ts";

const root = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));
writeFileSync(join(root, "test", "shown-inputs.json"), presentInputs());
