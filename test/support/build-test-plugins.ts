/** Runs once before all tests. Builds the plugins that only tests load, with the project's compiled build. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

export default function buildTestPlugins(): void {
  if (!existsSync(`${projectFolder}/dist/build/main.js`)) throw new Error('Run "npm run build" before the tests');
  execFileSync("npm", ["run", "--silent", "build:test-plugins"], { cwd: projectFolder, stdio: "inherit" });
}
