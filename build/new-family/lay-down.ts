/** Writes the files of a new family: all of them, or none. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { projectFolder } from "../bundle.ts";
import { readFamily } from "../family.ts";
import { grantLines, policyFile, withGrant } from "./grant.ts";
import { filesFor } from "./laid-files.ts";

export interface LaidDown {
  /** The files that are new, from the project's folder. */
  readonly files: readonly string[];
  /** The lines that are new in the policy. */
  readonly grant: readonly string[];
}

/** Throws, and leaves everything as it was, when a file is there already or anything fails. */
export async function layDown(name: string): Promise<LaidDown> {
  const files = filesFor(name);
  const present = files.find(({ path }) => existsSync(join(projectFolder, path)));
  if (present) throw new Error(`Cannot add family "${name}": ${present.path} is there already`);
  const made: string[] = [];
  try {
    for (const { path, text } of files) writeNew(path, text, made);
    format(files.map(({ path }) => path).filter((path) => path.endsWith(".ts")));
    const family = await readFamily(join(projectFolder, "plugin", name));
    const policy = join(projectFolder, policyFile);
    writeFileSync(policy, withGrant(readFileSync(policy, "utf8"), family));
    return { files: files.map(({ path }) => path), grant: grantLines(family) };
  } catch (error) {
    for (const path of made.toReversed()) rmSync(path, { recursive: true, force: true });
    throw error;
  }
}

/** What was made is added to `made`, folders included, so that it can be taken away again. */
function writeNew(path: string, text: string, made: string[]): void {
  const place = join(projectFolder, path);
  const folder = mkdirSync(dirname(place), { recursive: true });
  if (folder !== undefined) made.push(folder);
  writeFileSync(place, text, { flag: "wx" });
  made.push(place);
}

/** A name that is longer or shorter than the sample's breaks lines elsewhere. */
function format(paths: readonly string[]): void {
  const formatter = join("node_modules", "oxfmt", "bin", "oxfmt");
  const { status, stderr } = spawnSync(process.execPath, [formatter, ...paths], {
    cwd: projectFolder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot format the new files: ${stderr}`);
}
