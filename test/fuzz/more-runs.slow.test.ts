/**
 * A third of the properties of this folder, with ten times as many runs: `stage/random-runs.ts` knows it by the name of this
 * file.
 */
import { readdirSync } from "node:fs";

import { oneIn } from "../stage/seed.ts";

const files = readdirSync(new URL(".", import.meta.url)).filter((file) => /^[\w-]+\.test\.ts$/.test(file));
await Promise.all(oneIn(3, files).map((file) => import(`./${file}`) as Promise<unknown>));
