/** What a folder here pins, installed outside the clone. */
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";

import { buildFolder, isOwnFolder, makeWhole } from "../polyglot/build-folder.ts";
import { clone, finished } from "./finished.ts";

const sources = join(clone, "test", "consumers");
const files = ["package.json", "package-lock.json", ".npmrc"];

/** Returns the folder that has `node_modules`. */
export async function installPinned(name: "bundlers" | "runtimes"): Promise<string> {
  const parts = await Promise.all(files.map((file) => readFile(join(sources, name, file))));
  const folder = buildFolder(name, parts);
  await makeWhole(
    folder,
    async (made) => {
      for (const file of files) await copyFile(join(sources, name, file), join(made, file));
      const args = ["ci", "--ignore-scripts", "--engine-strict=false", "--force", "--no-audit", "--no-fund"];
      const { status, said } = await finished("npm", [...args, "--prefer-offline"], { cwd: made });
      if (status !== 0) throw new Error(`Cannot install the ${name}: ${said}`);
    },
    isOwnFolder,
  );
  return folder;
}
