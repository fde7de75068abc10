/** The command line in a process of its own. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

export interface Ended {
  readonly status: number | null;
  /** With what it has said on standard error. */
  readonly stdout: string;
}

export function memcell(...args: readonly string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  return { status, stdout: stdout + stderr };
}

export const copy = (from: string, to: string): Ended => memcell("copy", "--from", from, "--to", to);

export const startCopy = (from: string, to: string): ChildProcess =>
  spawn(process.execPath, [program, "copy", "--from", from, "--to", to], { stdio: "ignore" });
