import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The folder of a host's sources. Located through the package's name, because `dist/` has compiled TypeScript only. */
export function hostSources(language: "go" | "java" | "python" | "rust"): string {
  return join(dirname(createRequire(import.meta.url).resolve("memcell/package.json")), "host/polyglot", language);
}
