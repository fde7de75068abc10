/** Packages from PyPI, pinned with hashes, in an environment outside the clone that later runs use again. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { buildFolder, isOwnFolder, makeWhole } from "../polyglot/build-folder.ts";

const run = promisify(execFile);

/** Writes no compiled code next to the sources, and ignores the user's variables and home folder. */
export const isolation: readonly string[] = ["-B", "-E", "-s"];

const installTimeoutMs = 10 * 60_000;

export interface PythonPackages {
  /** Also the module that proves that they are usable. */
  readonly name: string;
  /** The file of pins. */
  readonly requirements: string;
  /** The oldest Python that they run on, for example `[3, 11]`. */
  readonly least: readonly [major: number, minor: number];
}

/** The Python that has the packages, or why there is none. */
export type InstalledPackages =
  | { readonly python: string; readonly missing: null }
  | { readonly python: null; readonly missing: string };

export async function installPackages({ name, requirements, least }: PythonPackages): Promise<InstalledPackages> {
  const needed = `import ensurepip, sys, venv; sys.exit(sys.version_info < (${least.join(", ")}))`;
  if (!(await succeeds("python3", ["-c", needed]))) {
    return { python: null, missing: `"python3" is not there, is older than ${least.join(".")}, or lacks venv` };
  }
  const folder = buildFolder(name, [await readFile(requirements)]);
  const isUsable = async (): Promise<boolean> =>
    (await isOwnFolder(folder)) && (await succeeds(pythonIn(folder), [...isolation, "-c", `import ${name}`]));
  try {
    await makeWhole(folder, (made) => install(made, requirements), isUsable);
    return { python: pythonIn(folder), missing: null };
  } catch (error) {
    return { python: null, missing: `${name} cannot be installed: ${String(error).slice(0, 2_000)}` };
  }
}

async function install(made: string, requirements: string): Promise<void> {
  await run("python3", [...isolation, "-m", "venv", made]);
  const wheels = ["--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", requirements];
  await run(pythonIn(made), ["-m", "pip", "install", ...wheels], { timeout: installTimeoutMs });
}

const pythonIn = (folder: string): string => join(folder, "bin", "python");

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}
