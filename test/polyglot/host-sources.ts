import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The folder of a host's sources. It is found by the package's name, because only TypeScript is compiled into `dist/`. */
export function hostSources(language: "go" | "java" | "python" | "rust"): string {
  return join(dirname(createRequire(import.meta.url).resolve("memcell/package.json")), "host/polyglot", language);
}
