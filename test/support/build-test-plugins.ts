/**
 * Runs once before all tests. Prints the seed of their samples, and builds the plugins that only tests load, with the project's compiled build. `TEST_BUILT=1`
 * says that a run of the other tier has just built them.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { seed } from "../stage/seed.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

export default function buildTestPlugins(): void {
  console.log(`TEST_SEED=${seed} repeats this run's samples`);
  process.env["TEST_SEED"] = String(seed);
  if (process.env["TEST_BUILT"] === "1") return;
  if (!existsSync(`${projectFolder}/dist/build/main.js`)) throw new Error('Run "npm run build" before the tests');
  execFileSync("npm", ["run", "--silent", "build:test-plugins"], { cwd: projectFolder, stdio: "inherit" });
}
