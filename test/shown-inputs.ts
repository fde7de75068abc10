/**
 * Suites that show the same again as long as the files that they depend on are the same. `shown-inputs.json` has the
 * hashes of these files at the last `npm run test:shown` or `test:long` that passed. While they are the same, only
 * `TEST_LONG=1` runs the suites.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { isLong } from "./stage/seed.ts";

const root = dirname(createRequire(import.meta.url).resolve("memcell/package.json"));
const record = join(root, "test", "shown-inputs.json");

const ofHosts = ["build/plugins.lock.json", "shared/abi.ts", "test/conformance/vectors", "test/polyglot"];

/** Files and folders. */
const inputs = {
  "the Rust host": ["host/polyglot/rust", ...ofHosts],
  "the Java host": ["host/polyglot/java", ...ofHosts],
  rebuilds: ["build", "plugin", "shared", "test/build", "package-lock.json", "tsconfig.json"],
} as const;

export type Shown = keyof typeof inputs;

/** The suites of `rebuilds`. */
export const rebuilds = "test/build/{new-family,rebuilt,reproducible,second-family,verify-build}.slow.test.ts";

/** Why it need not be shown again, or `null`. */
export function whyShown(name: Shown): string | null {
  const shown = JSON.parse(readFileSync(record, "utf8")) as Partial<Record<Shown, string>>;
  if (isLong || shown[name] !== hashOf(inputs[name])) return null;
  return `what ${name} depends on is as it was at the last "npm run test:shown"; TEST_LONG=1 runs it`;
}

/** Records the present files. */
export function recordShown(): void {
  const hashes = Object.entries(inputs).map(([name, paths]) => [name, hashOf(paths)]);
  writeFileSync(record, `${JSON.stringify(Object.fromEntries(hashes), null, 2)}\n`);
}

/** The hash of files, and of all files in folders, by their paths from the project's folder. */
export function hashOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths.flatMap(filesIn).toSorted()) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\n${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

/** What no build reads: what builds have made, and pages for people. */
const outside = new Set(["target", "node_modules", "__pycache__", "README.md", "RATIONALE.md"]);

function filesIn(path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter(({ name }) => !outside.has(name))
    .flatMap(({ name }) => filesIn(`${path}/${name}`));
}
