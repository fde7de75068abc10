/**
 * Rebuilds the plugins from the sources of a clone, after compiling the build itself, in a new folder inside `dist/`,
 * where Node finds the project's packages. Writes no shipped or committed file.
 */
import { execFile } from "node:child_process";
import { access, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";

/** The time limit of each of the two steps. Together they take 11 s on two cores. */
const stepMs = 600_000;

/** 1 MiB of output of the compiler or the build. */
const outputBytesMax = 1_048_576;

/** How much of the output's end a failed rebuild shows. */
const outputCharsShown = 4_000;

/** The clone that this program was built in. */
export const cloneFolder: string = fileURLToPath(new URL("../../../", import.meta.url));

/** A failed rebuild. The message is for a reviewer. */
export class RebuildFailure extends Error {
  override readonly name = "RebuildFailure";
}

/** The packages that the build needs. */
const packages = ["typescript", "esbuild", "binaryen", "quickjs-wasi", "@cyclonedx/cyclonedx-library"];

export interface Rebuilt extends AsyncDisposable {
  /** Holds the plugin files, `plugins.lock.json` and `sbom.json`. */
  readonly folder: string;
}

/** Rebuilds into a folder that is removed when the result is disposed. Rejects with `RebuildFailure`. */
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
 * The environment variables that a process needs to run. Others are not passed on: `NODE_OPTIONS` loads code into every
 * Node process, `ESBUILD_BINARY_PATH` names another bundler.
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
