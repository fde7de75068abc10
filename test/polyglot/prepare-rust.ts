/** The Rust host: compiled by cargo, in a folder that later runs with the same sources and pins use again. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { buildFolder, digestOf, isOwnFolder } from "./build-folder.ts";
import type { HostKind, HostProgram } from "./host-kind.ts";
import { hostSources } from "./host-sources.ts";

const run = promisify(execFile);
const sources = hostSources("rust");
const outputBytesMax = 64 * 1024 * 1024;

export const rust: HostKind = {
  language: "Rust",
  sdk: "extism 1.30.0, wasmtime 43.0.2",
  missing,
  prepare,
};

async function missing(): Promise<string | null> {
  return run("cargo", ["--version"]).then(
    () => null,
    () => "cargo is not installed",
  );
}

/**
 * Cargo finds compiled code in a folder named by the pins. With other sources, or in another clone, it compiles only
 * the host and not the engine again. Each clone has its own folder for its program.
 */
async function prepare(signal: AbortSignal): Promise<HostProgram> {
  const names = (await readdir(sources)).filter((name) => name.startsWith("Cargo."));
  const build = buildFolder("rust", await Promise.all(names.toSorted().map((name) => readFile(join(sources, name)))));
  await mkdir(build, { recursive: true, mode: 0o700 });
  if (!(await isOwnFolder(build))) throw new Error(`Cannot build in ${build}: it is another user's`);
  const target = join(build, `program-${digestOf([sources])}`);
  const env = { CARGO_BUILD_BUILD_DIR: build, CARGO_TARGET_DIR: target };
  const options = { cwd: sources, signal, maxBuffer: outputBytesMax, env: { ...process.env, ...env } };
  await run("cargo", ["build", "--release", "--locked", "--quiet"], options);
  return { command: join(target, "release", "memcell-host"), args: [], env: { CARGO_BUILD_BUILD_DIR: build } };
}
