/** A compiled clone. The first suite of a run that needs one makes it, and each suite changes its own copy. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { copyClone } from "./copied-clone.ts";

/** The folder of a clone. Each part of its name was once, or could be, taken for a part of the project. */
export const oddFolder = join("shared", "gray-matter", "plugin", "ş with spaces", "c".repeat(100));

/** Takes nothing from the machine's own environment. `home` is a folder with a folder `tmp`. */
export const foreignEnvironment = (home: string): Record<string, string | undefined> => ({
  PATH: process.env["PATH"],
  HOME: home,
  TMPDIR: join(home, "tmp"),
  USER: "nobody",
  LOGNAME: "nobody",
  LC_ALL: "tr_TR.UTF-8",
  LANG: "tr_TR.UTF-8",
  TZ: "Asia/Kathmandu",
});

/** Copies a clone compiled by the project's compiler in a foreign environment. `runFolder` is the run's folder. */
export function copyBuiltClone(to: string, runFolder: string): void {
  const built = join(runFolder, "clone");
  if (!existsSync(built)) {
    // The clone gets its name only when it is whole. Two suites can make it at the same time: the first to end is used.
    const making = mkdtempSync(join(runFolder, "making-"));
    buildClone(making);
    try {
      renameSync(making, built);
    } catch (error) {
      if (!existsSync(built)) throw error;
      rmSync(making, { recursive: true });
    }
  }
  cpSync(join(built, oddFolder), to, { recursive: true, verbatimSymlinks: true });
}

function buildClone(folder: string): void {
  const clone = join(folder, oddFolder);
  copyClone(clone);
  mkdirSync(join(folder, "tmp"));
  const compiler = ["node_modules/typescript/bin/tsc"];
  const options = { cwd: clone, env: foreignEnvironment(folder), encoding: "utf8" } as const;
  const { status, stdout } = spawnSync(process.execPath, compiler, options);
  if (status !== 0) throw new Error(`The copy does not compile: ${stdout}`);
}
