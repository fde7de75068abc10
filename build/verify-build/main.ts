/**
 * `npm run verify-build`: checks whether the lock, the plugin files and the list of components of a clone are what its
 * sources give. It changes no file of the clone.
 *
 * usage: node dist/build/verify-build/main.js [PLUGIN.wasm...] [--json]
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { compareRebuild } from "./compare-rebuild.ts";
import type { RebuildReport } from "./compare-rebuild.ts";
import { cloneFolder, RebuildFailure } from "./rebuild-sources.ts";

const help = `Rebuilds the plugins from the sources of this clone (15 s), and reports differences from build/plugins.lock.json,
the plugin files and the list of components. It changes no file of the clone.

Usage
  npm run verify-build -- [PLUGIN.wasm...] [--json]

PLUGIN.wasm  plugin files to compare (default: those in dist/plugins)
--json       prints { verdict, plugins, deviations } as JSON

Exit codes
  0 PASS: no difference   1 FAIL: a difference, or the rebuild failed   2 invalid command line
`;

process.exitCode = await run(process.argv.slice(2));

async function run(args: string[]): Promise<number> {
  const asked = parse(args);
  if (asked === "help") process.stdout.write(help);
  else if (asked === null) process.stderr.write(help);
  else return await verifyBuild(asked);
  return asked === null ? 2 : 0;
}

interface Asked {
  readonly files: readonly string[];
  readonly isJson: boolean;
}

/** Returns `null` for an invalid command line. */
function parse(args: string[]): Asked | "help" | null {
  try {
    const options = { json: { type: "boolean" }, help: { type: "boolean" } } as const;
    const { values, positionals: files } = parseArgs({ args, allowPositionals: true, options });
    return values.help ? "help" : { files, isJson: values.json === true };
  } catch {
    return null;
  }
}

async function verifyBuild({ files, isJson }: Asked): Promise<number> {
  try {
    const report = await compareRebuild(files.length > 0 ? files : await shippedPlugins());
    process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
    return report.verdict === "PASS" ? 0 : 1;
  } catch (error) {
    if (!(error instanceof RebuildFailure)) throw error;
    process.stderr.write(`verify-build: ${error.message}\n`);
    return 1;
  }
}

/** The plugin files that a runtime of this clone loads by default: all in the folder. */
async function shippedPlugins(): Promise<string[]> {
  const folder = join(cloneFolder, "dist", "plugins");
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(".wasm"))
    .toSorted()
    .map((name) => join(folder, name));
}

function textOf({ verdict, plugins, deviations }: RebuildReport): string {
  const given = Object.entries(plugins).map(
    ([name, { version, sha256, bytes }]) => `  ${name} ${version}  ${bytes} bytes\n  SHA-256 ${sha256}\n`,
  );
  const found =
    verdict === "PASS"
      ? "PASS  the lock, the plugin files and the list of components are what the sources give\n"
      : `FAIL  ${deviations.length === 1 ? "1 difference" : `${deviations.length} differences`}\n`;
  return [
    `Rebuilt from the sources with Node ${process.version}:\n`,
    ...given,
    found,
    ...deviations.map((text) => `  ${text}\n`),
  ].join("");
}
