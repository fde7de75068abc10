import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import type { HostKind, HostProgram } from "./host-kind.ts";

/** From the package's folder: the sources are not compiled with everything else, and lie nowhere else. */
const packageFile = createRequire(import.meta.url).resolve("memcell/package.json");
const sources = join(dirname(packageFile), "test/polyglot/java");
const run = promisify(execFile);

/** What pays in a process that serves few calls: the second compiler takes longer than it saves. */
const flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"];

export const java: HostKind = {
  language: "Java",
  sdk: "chicory-sdk-core 0.3.0, Chicory 1.7.5",
  missing: async () => (await missingCommand("javac", "-version", 17)) ?? (await missingCommand("mvn", "-version", 3)),
  prepare,
};

async function missingCommand(command: string, option: string, least: number): Promise<string | null> {
  try {
    const { stdout, stderr } = await run(command, [option]);
    const version = /(?:javac|Maven) (\d+)/.exec(stdout + stderr)?.[1];
    return Number(version) >= least ? null : `${command} is older than ${least}`;
  } catch {
    return `there is no ${command}`;
  }
}

async function prepare(signal: AbortSignal): Promise<HostProgram> {
  const folder = join(tmpdir(), `memcell-polyglot-java-${await digestOfSources()}`);
  if (!(await isUsable(folder))) {
    await rm(folder, { recursive: true, force: true });
    await build(folder, signal);
  }
  return { command: "java", args: [...flags, "-jar", join(folder, "host.jar")] };
}

async function build(folder: string, signal: AbortSignal): Promise<void> {
  const made = await mkdtemp(join(tmpdir(), "memcell-polyglot-java-"));
  try {
    const goal = ["-q", "-B", "-f", join(sources, "pom.xml"), `-Dmemcell.target=${made}`, "package"];
    await run("mvn", goal, { signal, maxBuffer: 64 * 1024 * 1024 }).catch(rejectWithOutput);
    // Whole or not at all. When another run was faster, its program is as good.
    await rename(made, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

/** Maven says on standard output what it could not do. */
function rejectWithOutput(error: Error & { stdout?: string }): never {
  throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
}

async function digestOfSources(): Promise<string> {
  const names = (await readdir(sources)).filter((name) => name === "pom.xml" || name.endsWith(".java")).toSorted();
  const hash = createHash("sha256");
  for (const [at, bytes] of (await Promise.all(names.map((name) => readFile(join(sources, name))))).entries()) {
    hash.update(`${names[at]} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex").slice(0, 16);
}

/** Another user of the machine may have made a folder of this name: code in it is not run. */
async function isUsable(folder: string): Promise<boolean> {
  return lstat(folder).then(
    (found) => found.isDirectory() && found.uid === process.getuid?.(),
    () => false,
  );
}
