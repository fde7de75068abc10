/** Writes the files of a new family, builds its plugin, and grants what it requests. If a step fails, undoes all. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { projectFolder } from "../bundle.ts";
import { readFamily } from "../family.ts";
import { grantLines, policyFile, withGrant } from "./grant.ts";
import { filesFor } from "./laid-files.ts";

export interface LaidDown {
  /** The new files, relative to the project's folder. */
  readonly files: readonly string[];
  /** The new lines of the policy. */
  readonly grant: readonly string[];
}

/** Throws when a file exists already or a step fails, and leaves everything as it was. */
export async function layDown(name: string): Promise<LaidDown> {
  const files = filesFor(name);
  const present = files.find(({ path }) => existsSync(join(projectFolder, path)));
  if (present) throw new Error(`Cannot add family "${name}": ${present.path} is there already`);
  const made: string[] = [];
  const lock = textOrNone(lockFile);
  try {
    for (const { path, text } of files) writeNew(path, text, made);
    format(files.map(({ path }) => path).filter((path) => /\.(ts|json)$/.test(path)));
    const family = await readFamily(join(projectFolder, "plugin", name));
    const policy = join(projectFolder, policyFile);
    const granted = withGrant(readFileSync(policy, "utf8"), family);
    made.push(...builtFiles(name));
    // The plugin and its line in the lock come first: a grant for a missing plugin would be useless.
    run("build the new family", join("dist", "build", "main.js"), "--only", name);
    writeFileSync(policy, granted);
    return { files: files.map(({ path }) => path), grant: grantLines(family) };
  } catch (error) {
    for (const path of made.toReversed()) rmSync(path, { recursive: true, force: true });
    if (lock !== null) writeFileSync(lockFile, lock);
    throw error;
  }
}

/** Adds what it creates to `made`, folders included, so that it can be removed again. */
function writeNew(path: string, text: string, made: string[]): void {
  const place = join(projectFolder, path);
  const folder = mkdirSync(dirname(place), { recursive: true });
  if (folder !== undefined) made.push(folder);
  writeFileSync(place, text, { flag: "wx" });
  made.push(place);
}

/** A name of another length than the sample's moves line breaks. */
function format(paths: readonly string[]): void {
  run("format the new files", join("node_modules", "oxfmt", "bin", "oxfmt"), ...paths);
}

function run(action: string, program: string, ...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: projectFolder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot ${action}: ${stderr || stdout}`);
}

const lockFile = join(projectFolder, "build", "plugins.lock.json");

function textOrNone(file: string): string | null {
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

/** The files that a build of one family writes, except the lock. */
function builtFiles(name: string): string[] {
  return [".wasm", ".wasm.sha256", ".d.ts"].map((end) => join(projectFolder, "dist", "plugins", `${name}${end}`));
}
