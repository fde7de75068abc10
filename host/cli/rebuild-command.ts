import { bundledPluginFiles } from "../plugins/bundled-plugins.ts";
import { compareRebuild } from "../provenance/compare-rebuild.ts";
import type { RebuildReport } from "../provenance/compare-rebuild.ts";
import { RebuildFailure } from "../provenance/rebuild-sources.ts";

export interface RebuildOptions {
  /** Plugin files to compare with. Default: those that a runtime loads by itself. */
  readonly files?: readonly string[];
  /** Prints the report as JSON. Default `false`. */
  readonly json?: boolean;
}

/**
 * `memcell audit --rebuild`: builds the plugins from the clone's sources and says where the lock, the plugin files or the
 * list of components differ. Resolves to the exit code: 0 nothing differs, 1 something does, or nothing could be rebuilt.
 */
export async function rebuildCommand({ files, json = false }: RebuildOptions = {}): Promise<number> {
  try {
    const report = await compareRebuild(files ?? (await bundledPluginFiles().catch(() => [])));
    process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
    return report.verdict === "PASS" ? 0 : 1;
  } catch (error) {
    if (!(error instanceof RebuildFailure)) throw error;
    process.stderr.write(`memcell audit --rebuild: ${error.message}\n`);
    return 1;
  }
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
