/** The Python host: its packages in an environment outside the clone, its sources run where they lie. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import type { HostKind, HostProgram } from "./host-kind.ts";

/** From the package's folder: the sources are not compiled, and lie nowhere else. */
const sources = join(dirname(createRequire(import.meta.url).resolve("memcell/package.json")), "test/polyglot/python");
const requirements = join(sources, "requirements.txt");

/** Without compiled code beside the sources, and without what the caller's variables or home folder would add. */
const isolation = ["-B", "-E", "-s"];

/** `ensurepip` is a package of its own on some systems. */
const neededOfPython = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

export const python: HostKind = {
  language: "Python",
  sdk: "extism 1.1.1, libextism 1.41.0 (wasmtime)",
  missing: async () => {
    if (await succeeds("python3", ["-c", neededOfPython])) return null;
    return '"python3" is not there, is older than 3.10, or lacks venv';
  },
  prepare: async (signal) => programIn(await environment(signal)),
};

/** Installs what is pinned into a folder that a later run with the same pins finds again: whole or not at all. */
async function environment(signal: AbortSignal): Promise<string> {
  const digest = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex");
  const place = join(tmpdir(), `memcell-polyglot-python-${digest.slice(0, 16)}`);
  if (await isUsable(place)) return place;
  const made = await mkdtemp(join(tmpdir(), "memcell-polyglot-python-"));
  try {
    const run = promisify(execFile);
    await run("python3", [...isolation, "-m", "venv", made], { signal });
    const install = [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--only-binary",
      ":all:",
      "--require-hashes",
      "-r",
      requirements,
    ];
    await run(pythonOf(made), install, { signal });
    // When another run was faster, its environment is as good, and may be in use.
    if (await isUsable(place)) return place;
    await rm(place, { recursive: true, force: true });
    await rename(made, place).catch(async (error: unknown) => {
      if (!(await isUsable(place))) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return place;
}

/** Another user of the machine may have made a folder of this name: code in it is not run. */
async function isUsable(place: string): Promise<boolean> {
  const owner = await lstat(place).then(
    (found) => (found.isDirectory() ? found.uid : null),
    () => null,
  );
  if (owner === null || owner !== process.getuid?.()) return false;
  return succeeds(pythonOf(place), [...isolation, "-c", "import extism"]);
}

function programIn(place: string): HostProgram {
  // wasmtime would keep compiled plugins in the home folder, and the next run would not compile what it is given.
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
