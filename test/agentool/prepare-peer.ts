/** agentool's own tools as a program: cargo compiles it in a folder that later runs with the same pins reuse. */
import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { buildFolder, digestOf, isOwnFolder } from "../polyglot/build-folder.ts";

const run = promisify(execFile);
/** The sources in the package's folder: the build does not copy them to `dist`. */
const sources = join(dirname(createRequire(import.meta.url).resolve("memcell/package.json")), "test/agentool/peer");

/** A first build downloads and compiles 30 small crates, which takes seconds on a free machine. */
export const buildTimeoutMs = 10 * 60_000;

/** The program's path, or the reason why this machine has none. */
export type Peer = { readonly program: string } | { readonly missing: string };

/**
 * Every test file calls this: cargo runs one build at a time and reuses compiled crates. Returns the reason if there is
 * no cargo. Rejects with cargo's output if the build fails.
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
