/** The Rust host: compiled by cargo, in a folder that later runs with the same sources and pins find again. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import type { HostKind, HostProgram } from "./host-kind.ts";

const run = promisify(execFile);
/** In the package's folder: the sources are not compiled with everything else, and lie nowhere else. */
const sources = join(dirname(createRequire(import.meta.url).resolve("memcell/package.json")), "test/polyglot/rust");
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
 * Cargo itself finds what is already compiled, in a folder that is named by the pins: other sources and other clones compile
 * the host alone, and not the engine again. Each clone has a folder of its own for its program.
 */
async function prepare(signal: AbortSignal): Promise<HostProgram> {
  const build = join(tmpdir(), `memcell-polyglot-rust-${await digestOfPins()}`);
  await makeOwnFolder(build);
  const target = join(build, `program-${digest([sources])}`);
  const env = { CARGO_BUILD_BUILD_DIR: build, CARGO_TARGET_DIR: target };
  const options = { cwd: sources, signal, maxBuffer: outputBytesMax, env: { ...process.env, ...env } };
  await run("cargo", ["build", "--release", "--locked", "--quiet"], options);
  return { command: join(target, "release", "memcell-host"), args: [], env: { CARGO_BUILD_BUILD_DIR: build } };
}

async function digestOfPins(): Promise<string> {
  const names = (await readdir(sources)).filter((name) => name.startsWith("Cargo."));
  return digest(await Promise.all(names.toSorted().map((name) => readFile(join(sources, name)))));
}

function digest(parts: readonly (string | Uint8Array)[]): string {
  const made = createHash("sha256");
  for (const part of parts) made.update(part);
  return made.digest("hex").slice(0, 16);
}

/** Another user of the machine may have made a folder of this name: code in it is not run. */
async function makeOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(`Cannot build in ${folder}: it is another user's`);
  }
}
