import { createRequire } from "node:module";

/** Of the package, as its `package.json` says. */
export const version: string = (createRequire(import.meta.url)("memcell/package.json") as { version: string }).version;
