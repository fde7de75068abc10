/** The Python host: its packages in an environment outside the clone, its sources in place. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { buildFolder, isOwnFolder, makeWhole } from "./build-folder.ts";
import type { HostKind, HostProgram } from "./host-kind.ts";
import { hostSources } from "./host-sources.ts";

const sources = hostSources("python");
const requirements = join(sources, "requirements.txt");

/** Writes no compiled code next to the sources, and ignores the user's variables and home folder. */
const isolation = ["-B", "-E", "-s"];

/** On some systems `ensurepip` is a separate package. */
const neededOfPython = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

export const python: HostKind = {
  language: "Python",
  missing: async () => {
    if (await succeeds("python3", ["-c", neededOfPython])) return null;
    return '"python3" is not there, is older than 3.10, or lacks venv';
  },
  prepare: async (signal) => programIn(await environment(signal)),
};

/** Installs the pinned packages into a folder that a later run with the same pins uses again. */
async function environment(signal: AbortSignal): Promise<string> {
  const place = buildFolder("python", [await readFile(requirements)]);
  await makeWhole(place, (made) => install(made, signal), isUsable);
  return place;
}

async function install(made: string, signal: AbortSignal): Promise<void> {
  const run = promisify(execFile);
  await run("python3", [...isolation, "-m", "venv", made], { signal });
  const wheels = ["--quiet", "--only-binary", ":all:", "--require-hashes", "-r", requirements];
  await run(pythonOf(made), ["-m", "pip", "install", ...wheels], { signal });
}

async function isUsable(place: string): Promise<boolean> {
  return (await isOwnFolder(place)) && (await succeeds(pythonOf(place), [...isolation, "-c", "import extism"]));
}

function programIn(place: string): HostProgram {
  // Otherwise wasmtime would cache compiled plugins in the home folder, and the next run would not compile its file.
  const env = { EXTISM_CACHE_CONFIG: "" };
  return { command: pythonOf(place), args: [...isolation, join(sources, "main.py")], env };
}

function pythonOf(place: string): string {
  return join(place, "bin", "python");
}

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return promisify(execFile)(command, args).then(
    () => true,
    () => false,
  );
}
