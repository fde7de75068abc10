import { execFile } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { buildFolder, digestOf, isOwnFolder } from "./build-folder.ts";

const run = promisify(execFile);
const outputBytesMax = 64 * 1024 * 1024;

/** Why no Rust program can be built on this machine. */
export function missingCargo(): Promise<string | null> {
  return run("cargo", ["--version"]).then(
    () => null,
    () => "cargo is not installed",
  );
}

/**
 * Cargo finds compiled code in a folder named by the pins. With other sources, or in another clone, it compiles only
 * the program and not its crates again. Each clone has its own folder for its program. Rejects with cargo's output.
 */
export async function cargoBuild(
  name: string,
  { sources, options, signal }: { sources: string; options: readonly string[]; signal: AbortSignal },
): Promise<{ build: string; target: string }> {
  const pins = (await readdir(sources)).filter((file) => file.startsWith("Cargo.")).toSorted();
  const build = buildFolder(name, await Promise.all(pins.map((file) => readFile(join(sources, file)))));
  await mkdir(build, { recursive: true, mode: 0o700 });
  if (!(await isOwnFolder(build))) throw new Error(`Cannot build in ${build}: it is another user's`);
  const target = join(build, `program-${digestOf([sources])}`);
  const env = { ...process.env, CARGO_BUILD_BUILD_DIR: build, CARGO_TARGET_DIR: target };
  const command = ["build", "--locked", "--quiet", ...options];
  await run("cargo", command, { cwd: sources, signal, maxBuffer: outputBytesMax, env });
  return { build, target };
}
