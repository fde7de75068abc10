/** The store under test (`store-under-test.ts`), and a whole runtime of the same host. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type * as memcell from "memcell";

import { hostFolder } from "./store-under-test.ts";

export * from "./store-under-test.ts";

export const { createRuntime } = (await import(pathToFileURL(join(hostFolder, "index.js")).href)) as typeof memcell;
