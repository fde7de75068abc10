/**
 * Builds the plugins anew from the sources of a clone, compiler and build included, into a folder of its own inside
 * `dist/`, where Node finds the project's packages. Nothing that is shipped or committed is written.
 */
import { execFile } from "node:child_process";
import { access, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";

/** For each of the two steps. Together they take 11 s on two cores. */
const stepMs = 600_000;

/** 1 MiB of what compiler and build may print. */
const outputBytesMax = 1_048_576;

/** The end of it, of which a reviewer is shown so much when a rebuild fails. */
const outputCharsShown = 4_000;

/** The clone that this program was built in. */
export const cloneFolder: string = fileURLToPath(new URL("../../../", import.meta.url));

/** Why nothing can be rebuilt, in words for a reviewer. */
export class RebuildFailure extends Error {
  override readonly name = "RebuildFailure";
}

/** What the build needs beyond the sources. */
const packages = ["typescript", "esbuild", "binaryen", "quickjs-wasi", "@cyclonedx/cyclonedx-library"];

export interface Rebuilt extends AsyncDisposable {
  /** Holds the plugin files, `plugins.lock.json` and `sbom.json`. */
  readonly folder: string;
}

/** The folder goes away with the block that holds it. Rejects with `RebuildFailure`. */
export async function rebuildSources(): Promise<Rebuilt> {
  const installed = packages.map((name) => `node_modules/${name}/package.json`);
  if (!(await areThere(installed))) {
    throw new RebuildFailure('The packages that the build needs are not installed: "npm ci" in the clone brings them');
  }
  const scratch = await mkdtemp(join(cloneFolder, "dist", "rebuild-")).catch(() => {
    throw new RebuildFailure("Cannot write into the clone's folder dist, where a rebuild needs room");
  });
  const remove = (): Promise<void> => rm(scratch, { recursive: true, force: true });
  const folder = join(scratch, "plugins");
  try {
    const compiled = join(scratch, "compiled");
    await runNode("compiler", [join(cloneFolder, "node_modules/typescript/bin/tsc"), "--outDir", compiled]);
    await runNode("build", [join(compiled, "build/main.js"), "--out", folder]);
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, [Symbol.asyncDispose]: remove };
}

async function areThere(paths: readonly string[]): Promise<boolean> {
  const found = await Promise.allSettled(paths.map((path) => access(join(cloneFolder, path))));
  return found.every(({ status }) => status === "fulfilled");
}

/**
 * The variables that a process needs to run at all. The others stay behind: `NODE_OPTIONS` loads code into every Node,
 * `ESBUILD_BINARY_PATH` names another bundler.
 */
const passedOn = ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot"];

async function runNode(step: string, args: readonly string[]): Promise<void> {
  const env = Object.fromEntries(passedOn.map((name) => [name, process.env[name]]));
  const options = { cwd: cloneFolder, env, timeout: stepMs, maxBuffer: outputBytesMax };
  await promisify(execFile)(process.execPath, [...args], options).catch((error: unknown) => {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const output = stripVTControlCharacters(`${stdout}${stderr}`.trim()).slice(-outputCharsShown);
    throw new RebuildFailure(`The ${step} failed on the clone's sources${output === "" ? "" : `:\n${output}`}`, {
      cause: error,
    });
  });
}
