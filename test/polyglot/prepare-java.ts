import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { buildFolder, makeWhole } from "./build-folder.ts";
import type { HostKind, HostProgram } from "./host-kind.ts";
import { hostSources } from "./host-sources.ts";

const sources = hostSources("java");
const run = promisify(execFile);

/** Faster for a process with few calls: the second compiler takes longer than it saves. */
const flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"];

export const java: HostKind = {
  language: "Java",
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
  const names = (await readdir(sources)).filter((name) => name === "pom.xml" || name.endsWith(".java"));
  const folder = buildFolder("java", await Promise.all(names.toSorted().map((name) => readFile(join(sources, name)))));
  await makeWhole(folder, (made) => build(made, signal));
  return { command: "java", args: [...flags, "-jar", join(folder, "host.jar")] };
}

async function build(made: string, signal: AbortSignal): Promise<void> {
  const goal = ["-q", "-B", "-f", join(sources, "pom.xml"), `-Dmemcell.target=${made}`, "package"];
  await run("mvn", goal, { signal, maxBuffer: 64 * 1024 * 1024 }).catch(rejectWithOutput);
}

/** Maven reports errors on standard output. */
function rejectWithOutput(error: Error & { stdout?: string }): never {
  throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
}
