/** The user that PostgreSQL's programs run as. They refuse to run as root, so root's tests hand them to `nobody`. */
import { execFile, type SpawnOptions } from "node:child_process";
import { chmodSync, chownSync } from "node:fs";
import { promisify } from "node:util";

import { temporaryFolder } from "../temporary-folder.ts";

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** A fresh folder of the server's user. */
export function serverFolder(above?: string): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder(above);
  if (isRoot) chownSync(folder.path, nobody, nobody);
  return folder;
}

/** Lets the server's user read what root put into the folder. */
export function openToServer(folder: string): void {
  if (isRoot) chmodSync(folder, 0o755);
}

/**
 * How to start a program as the server's user in a folder that it can enter; the clone may be closed to it. The
 * caller's `PG…` variables would change what the programs do.
 */
export function asServerUser(cwd: string): Pick<SpawnOptions, "cwd" | "env" | "uid" | "gid"> {
  const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
  return { cwd, env, ...(isRoot ? { uid: nobody, gid: nobody } : {}) };
}

/** Runs a program to its end. What it printed becomes the message of a failure. */
export async function runAsServerUser(program: string, args: readonly string[], cwd: string): Promise<void> {
  try {
    await promisify(execFile)(program, [...args], asServerUser(cwd));
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    const user = isRoot ? ` as user ${nobody}` : "";
    throw new Error(`${program} failed${user}: ${stderr?.trim() || message}`, { cause: error });
  }
}
