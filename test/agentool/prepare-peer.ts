/** agentool's own tools as a program: compiled by cargo, in a folder that later runs with the same pins find again. */
import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { buildFolder, digestOf, isOwnFolder } from "../polyglot/build-folder.ts";

const run = promisify(execFile);
/** In the package's folder: the sources are not compiled with everything else, and lie nowhere else. */
const sources = join(dirname(createRequire(import.meta.url).resolve("memcell/package.json")), "test/agentool/peer");

/** A first build downloads and compiles 30 small crates: seconds on a free machine. */
export const buildTimeoutMs = 10 * 60_000;

/** The program's path, or why there is none on this machine. */
export type Peer = { readonly program: string } | { readonly missing: string };

/**
 * Each test file asks for it: cargo makes them wait for each other, and finds what is compiled. What is not the crate's fault
 * (no cargo) is told; a build that fails rejects with what cargo printed.
 */
export async function preparePeer(): Promise<Peer> {
  const cargo = await run("cargo", ["--version"]).catch(() => null);
  if (cargo === null) return { missing: "cargo is not installed" };
  const pins = await Promise.all(["Cargo.lock", "Cargo.toml"].map((name) => readFile(join(sources, name))));
  const build = buildFolder("agentool", pins);
  await mkdir(build, { recursive: true, mode: 0o700 });
  if (!(await isOwnFolder(build))) throw new Error(`Cannot build in ${build}: it is another user's`);
  const target = join(build, `program-${digestOf([sources])}`);
  const env = { ...process.env, CARGO_BUILD_BUILD_DIR: build, CARGO_TARGET_DIR: target };
  await run("cargo", ["build", "--locked", "--quiet"], { cwd: sources, env, timeout: buildTimeoutMs });
  return { program: join(target, "debug", "agentool-peer") };
}
