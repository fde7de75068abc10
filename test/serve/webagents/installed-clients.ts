/** The real Python clients, installed from PyPI into a folder outside the clone that later runs use again. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { buildFolder, isOwnFolder, makeWhole } from "../../polyglot/build-folder.ts";

const run = promisify(execFile);
const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));

/** Writes no compiled code next to the sources, and ignores the user's variables and home folder. */
export const isolation: readonly string[] = ["-B", "-E", "-s"];

const installTimeoutMs = 10 * 60_000;

/** The Python that has the clients, or why there is none. */
export type InstalledClients =
  | { readonly python: string; readonly missing: null }
  | { readonly python: null; readonly missing: string };

export async function installClients(): Promise<InstalledClients> {
  const needed = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))";
  if (!(await succeeds("python3", ["-c", needed]))) {
    return { python: null, missing: '"python3" is not there, is older than 3.11, or lacks venv' };
  }
  const folder = buildFolder("webagents", [await readFile(requirements)]);
  try {
    await makeWhole(folder, install, isUsable);
    return { python: pythonIn(folder), missing: null };
  } catch (error) {
    return { python: null, missing: `webagents cannot be installed: ${String(error).slice(0, 2_000)}` };
  }
}

async function install(made: string): Promise<void> {
  await run("python3", [...isolation, "-m", "venv", made]);
  const wheels = ["--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", requirements];
  await run(pythonIn(made), ["-m", "pip", "install", ...wheels], { timeout: installTimeoutMs });
}

async function isUsable(folder: string): Promise<boolean> {
  return (await isOwnFolder(folder)) && (await succeeds(pythonIn(folder), [...isolation, "-c", "import webagents"]));
}

const pythonIn = (folder: string): string => join(folder, "bin", "python");

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}
