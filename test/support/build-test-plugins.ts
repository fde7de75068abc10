/**
 * Runs once before all tests. Prints the seed of their samples, and builds the plugins that only tests load with the
 * project's compiled build, unless they were built from the present sources. `TEST_BUILT=1` says that they were.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { hashOf } from "../shown-inputs.ts";
import { seed } from "../stage/seed.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
const builtFrom = `${projectFolder}/dist/test-plugins/.built-from`;
const sources = ["build", "plugin", "shared", "test/plugins", "test/foreign", "package-lock.json"];

export default function buildTestPlugins(): void {
  console.log(`TEST_SEED=${seed} repeats this run's samples`);
  process.env["TEST_SEED"] = String(seed);
  if (process.env["TEST_BUILT"] === "1") return;
  if (!existsSync(`${projectFolder}/dist/build/main.js`)) throw new Error('Run "npm run build" before the tests');
  const hash = hashOf(sources);
  if (existsSync(builtFrom) && readFileSync(builtFrom, "utf8") === hash) return;
  execFileSync("npm", ["run", "--silent", "build:test-plugins"], { cwd: projectFolder, stdio: "inherit" });
  writeFileSync(builtFrom, hash);
}
