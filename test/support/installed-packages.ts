/** Packages of others that a folder of the tests pins, installed outside the clone. */
import { execFile } from "node:child_process";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { buildFolder, isOwnFolder, makeWhole } from "../polyglot/build-folder.ts";

const run = promisify(execFile);
const files = ["package.json", "package-lock.json", ".npmrc"];
const installTimeoutMs = 10 * 60_000;

/**
 * Installs what `sources` pins, unless an earlier run has, and returns the folder. `usable` is false if a cleanup of the
 * temporary folder has removed some files. Optional packages are left out unless `optional` is true.
 */
export async function installedPackages(
  name: string,
  sources: string,
  usable: (folder: string) => Promise<boolean>,
  { optional = false } = {},
): Promise<string> {
  const folder = buildFolder(name, await Promise.all(files.map((file) => readFile(join(sources, file)))));
  // The installing Node is the older one, and a user's npm settings can be strict about that.
  const flags = ["--ignore-scripts", "--engine-strict=false", "--no-audit", "--no-fund", "--prefer-offline"];
  await makeWhole(
    folder,
    async (made) => {
      for (const file of files) await copyFile(join(sources, file), join(made, file));
      const args = ["ci", ...flags, ...(optional ? [] : ["--omit=optional"])];
      await run("npm", args, { cwd: made, timeout: installTimeoutMs });
    },
    async (made) => (await isOwnFolder(made)) && usable(made),
  );
  return folder;
}

/** Installs a newer Node than the one that runs the tests, and returns its program. */
export async function newerNode(): Promise<string> {
  const sources = fileURLToPath(new URL("newer-node/", import.meta.url));
  const program = `node_modules/node-${process.platform}-${process.arch}/bin/node`;
  const usable = (folder: string) => answers(join(folder, program), "--version");
  return join(await installedPackages("newer-node", sources, usable, { optional: true }), program);
}

/** Whether a program ends well with these arguments. */
export async function answers(program: string, ...args: string[]): Promise<boolean> {
  return run(program, args).then(
    () => true,
    () => false,
  );
}
