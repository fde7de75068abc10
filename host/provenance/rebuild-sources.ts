/**
 * Builds the plugins anew from the sources of a clone, compiler and build included, into a folder of its own inside
 * `dist/`, where Node finds the project's packages. Nothing that is shipped or committed is written.
 */
import { execFile } from "node:child_process";
import { access, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";

import { provenanceLimits } from "../../shared/limits.ts";

/** The package's folder: a clone, or what npm has installed. */
export const packageFolder: string = fileURLToPath(new URL("../../../", import.meta.url));

/** Why nothing can be rebuilt, in words for a reviewer. */
export class RebuildFailure extends Error {
  override readonly name = "RebuildFailure";
}

/** What is in every clone, and in no package. */
const sources = ["tsconfig.json", "package-lock.json", "build/main.ts", "plugin", "shared"];

/** What the build needs beyond the sources. */
const packages = ["typescript", "esbuild", "binaryen", "quickjs-wasi", "@cyclonedx/cyclonedx-library"];

export interface Rebuilt extends AsyncDisposable {
  /** Holds the plugin files, `plugins.lock.json` and `sbom.json`. */
  readonly folder: string;
}

/** The folder goes away with the block that holds it. Rejects with `RebuildFailure`. */
export async function rebuildSources(clone = packageFolder): Promise<Rebuilt> {
  if (!(await hasAll(clone, sources))) {
    throw new RebuildFailure(
      'This memcell has no sources beside it. "memcell audit --rebuild" works in a clone of its repository, ' +
        'after "npm ci && npm run build"',
    );
  }
  const installed = packages.map((name) => `node_modules/${name}/package.json`);
  if (!(await hasAll(clone, installed))) {
    throw new RebuildFailure('The packages that the build needs are not installed: "npm ci" in the clone brings them');
  }
  const scratch = await mkdtemp(join(clone, "dist", "rebuild-")).catch(() => {
    throw new RebuildFailure("Cannot write into the clone's folder dist, where a rebuild needs room");
  });
  const remove = (): Promise<void> => rm(scratch, { recursive: true, force: true });
  const folder = join(scratch, "plugins");
  try {
    const compiled = join(scratch, "compiled");
    await runNode(clone, "compiler", [join(clone, "node_modules/typescript/bin/tsc"), "--outDir", compiled]);
    await runNode(clone, "build", [join(compiled, "build/main.js"), "--out", folder]);
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, [Symbol.asyncDispose]: remove };
}

async function hasAll(folder: string, paths: readonly string[]): Promise<boolean> {
  const found = await Promise.allSettled(paths.map((path) => access(join(folder, path))));
  return found.every(({ status }) => status === "fulfilled");
}

/**
 * The variables that a process needs to run at all. The others stay behind: `NODE_OPTIONS` loads code into every Node,
 * `ESBUILD_BINARY_PATH` names another bundler.
 */
const passedOn = ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot"];

async function runNode(clone: string, step: string, args: readonly string[]): Promise<void> {
  const env = Object.fromEntries(passedOn.map((name) => [name, process.env[name]]));
  const { rebuildMs, rebuildOutputBytesMax, rebuildOutputCharsShown } = provenanceLimits;
  const options = { cwd: clone, env, timeout: rebuildMs, maxBuffer: rebuildOutputBytesMax };
  await promisify(execFile)(process.execPath, [...args], options).catch((error: unknown) => {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const output = stripVTControlCharacters(`${stdout}${stderr}`.trim()).slice(-rebuildOutputCharsShown);
    throw new RebuildFailure(`The ${step} failed on the clone's sources${output === "" ? "" : `:\n${output}`}`, {
      cause: error,
    });
  });
}
