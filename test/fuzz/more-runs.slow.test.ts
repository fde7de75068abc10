/** All properties of this folder with ten times as many runs: `stage/random-runs.ts` knows it by the name of this file. */
import { readdirSync } from "node:fs";

const files = readdirSync(new URL(".", import.meta.url)).filter((file) => /^[\w-]+\.test\.ts$/.test(file));
await Promise.all(files.map((file) => import(`./${file}`) as Promise<unknown>));
