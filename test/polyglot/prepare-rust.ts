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
 * Cargo itself finds what is already compiled. The folder is named by the pins: other sources with the same pins compile
 * the host alone, and not the engine again.
 */
async function prepare(signal: AbortSignal): Promise<HostProgram> {
  const target = join(tmpdir(), `memcell-polyglot-rust-${await digestOfPins()}`);
  await makeOwnFolder(target);
  const args = ["build", "--release", "--locked", "--quiet", "--target-dir", target];
  await run("cargo", args, { cwd: sources, signal, maxBuffer: outputBytesMax });
  return { command: join(target, "release", "memcell-host"), args: [] };
}

async function digestOfPins(): Promise<string> {
  const digest = createHash("sha256");
  const names = (await readdir(sources)).filter((name) => name.startsWith("Cargo."));
  for (const name of names.toSorted()) {
    // oxlint-disable-next-line no-await-in-loop -- a digest is of things in their order
    digest.update(await readFile(join(sources, name)));
  }
  return digest.digest("hex").slice(0, 16);
}

/** Another user of the machine may have made a folder of this name: code in it is not run. */
async function makeOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(`Cannot build in ${folder}: it is another user's`);
  }
}
