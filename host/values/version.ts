import { createRequire } from "node:module";

/** The package's version in `package.json`. */
export const version: string = (createRequire(import.meta.url)("memcell/package.json") as { version: string }).version;
