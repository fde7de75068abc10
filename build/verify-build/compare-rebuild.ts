/** Checks whether the present plugin files are those that the sources give. */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";

import { guestLimits, sbomLimits } from "../../shared/limits.ts";
import { lockDifferences, parseLock } from "../../shared/plugin-lock.ts";
import type { LockedPlugins } from "../../shared/plugin-lock.ts";
import { quoted } from "../../shared/text.ts";
import { readBounded } from "./bounded-file.ts";
import { cloneFolder, rebuildSources } from "./rebuild-sources.ts";

/** 64 KiB for the lock file. Each plugin takes 150 bytes of it. */
const lockBytesMax = 65_536;

export interface RebuildReport {
  readonly verdict: "PASS" | "FAIL";
  /** The rebuilt plugins by name. */
  readonly plugins: LockedPlugins;
  /** A sentence for each difference. */
  readonly deviations: readonly string[];
}

/**
 * Rebuilds, and compares the result with the committed lock, the list of components, and the plugin files. Takes some
 * 15 s. Rejects with `RebuildFailure` when the rebuild fails.
 */
export async function compareRebuild(pluginFiles: readonly string[]): Promise<RebuildReport> {
  await using rebuilt = await rebuildSources();
  const plugins = (await readLock(join(rebuilt.folder, "plugins.lock.json"))) ?? {};
  const locked = await readLock(join(cloneFolder, "build", "plugins.lock.json"));
  const deviations = [
    ...(Object.keys(plugins).length === 0 ? ["The sources give no plugin"] : []),
    ...(locked ? lockDifferences(plugins, locked) : ["build/plugins.lock.json is missing or malformed"]),
    ...(await fileDifferences(plugins, pluginFiles)),
    ...(await sbomDifferences(join(rebuilt.folder, "sbom.json"), join(cloneFolder, "dist", "sbom.json"))),
  ];
  return { verdict: deviations.length === 0 ? "PASS" : "FAIL", plugins, deviations };
}

async function readLock(file: string): Promise<LockedPlugins | null> {
  const bytes = await readBounded(file, lockBytesMax);
  return typeof bytes === "string" ? null : parseLock(new TextDecoder().decode(bytes));
}

async function fileDifferences(built: LockedPlugins, files: readonly string[]): Promise<string[]> {
  const differences = await Promise.all(files.map((file) => fileDifference(built, file)));
  const present = new Set(files.map((file) => basename(file, ".wasm")));
  const missing = Object.keys(built).filter((name) => !present.has(name));
  return [
    ...differences.filter((each) => each !== null),
    ...missing.map((name) => `Plugin "${name}" is built from the sources, but there is no plugin file of its name`),
  ];
}

async function fileDifference(built: LockedPlugins, file: string): Promise<string | null> {
  const name = quoted(basename(file));
  const bytes = await readBounded(file, guestLimits.pluginBytesMax);
  if (typeof bytes === "string") return `Plugin file ${name} ${bytes}`;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const plugin = Object.entries(built).find(([each]) => `${each}.wasm` === basename(file))?.[1];
  if (!plugin) return `Plugin file ${name} (SHA-256 ${sha256}) belongs to no plugin that the sources give`;
  if (plugin.sha256 === sha256) return null;
  const given = `SHA-256 ${plugin.sha256} (${plugin.bytes} bytes)`;
  return `Plugin file ${name} is not what the sources give: it is SHA-256 ${sha256} (${bytes.length} bytes), they give ${given}`;
}

async function sbomDifferences(builtFile: string, presentFile: string): Promise<string[]> {
  const [built, present] = await Promise.all(
    [builtFile, presentFile].map((file) => readBounded(file, sbomLimits.bytesMax)),
  );
  if (typeof present === "string") return [`The list of components, dist/sbom.json, ${present}`];
  const isSame = typeof built === "object" && present && Buffer.compare(built, present) === 0;
  return isSame ? [] : ["The list of components, dist/sbom.json, is not the one that the build writes"];
}
