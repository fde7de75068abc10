/** The command on a data folder of its own. It runs in this process; `processes.test.ts` has real ones. */
import { join } from "node:path";

import { expect } from "vitest";

import { memcell } from "../stage/command.ts";
import type { Ran } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";
import type { UserFiles } from "../support/user-files.ts";

export interface CommandStage extends Disposable {
  /** The working directory, with the data folder in it. */
  readonly path: string;
  readonly dataDir: string;
  /** Runs a command on the data folder. */
  memcell(...args: readonly string[]): Promise<Ran>;
  place(name: string): string;
  home(userId: string): string;
  files(userId: string): Record<string, string>;
}

export function commandStage(users: UserFiles = {}): CommandStage {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  writeUserFiles(dataDir, users);
  return {
    path: folder.path,
    dataDir,
    // Before the others, of which "--" may be one.
    memcell: (name = "", ...args) => memcell([name, "--data", dataDir, ...args], { cwd: folder.path }),
    place: (name) => join(folder.path, name),
    home: (userId) => userFolder(dataDir, userId),
    files: (userId) => readUserFiles(dataDir, userId),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** The error that a command has printed, and exited with 1. */
export function errorOf({ status, stdout }: Ran): { readonly code: string; readonly message: string } {
  expect({ status, isFailure: stdout.startsWith("{") }).toEqual({ status: 1, isFailure: true });
  const printed = JSON.parse(stdout) as { readonly ok: boolean; readonly error: { code: string; message: string } };
  expect(printed.ok).toBe(false);
  return printed.error;
}

/** The columns of each line. */
export const cellsIn = (stdout: string): string[][] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
