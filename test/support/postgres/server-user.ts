/** The user that PostgreSQL's programs run as. They refuse to run as root, so root's tests hand them to `nobody`. */
import { execFile } from "node:child_process";
import { chmodSync, chownSync } from "node:fs";
import { promisify } from "node:util";

import { atProcessEnd } from "../at-process-end.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

export type ServerFolder = ReturnType<typeof temporaryFolder>;

/** A fresh folder of the server's user. However this process ends, a server in it ends too, and the folder is removed. */
export function serverFolder(above?: string): ServerFolder {
  const folder = temporaryFolder(above);
  if (isRoot) chownSync(folder.path, nobody, nobody);
  const callOff = atProcessEnd('kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"; rm -rf "$1"', folder.path);
  return {
    path: folder.path,
    [Symbol.dispose]: () => {
      callOff();
      folder[Symbol.dispose]();
    },
  };
}

/** Lets the server's user read what root put into the folder. */
export function openToServer(folder: string): void {
  if (isRoot) chmodSync(folder, 0o755);
}

/**
 * Runs a program to its end, in a folder that the server's user can enter; the clone may be closed to it. The caller's
 * `PG…` variables would change what it does.
 */
export async function runAsServerUser(program: string, args: readonly string[], cwd: string): Promise<void> {
  const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
  await promisify(execFile)(program, args, { cwd, env, ...(isRoot && { uid: nobody, gid: nobody }) });
}
