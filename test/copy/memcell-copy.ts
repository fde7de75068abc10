/** `memcell copy` in a process of its own. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

export function copy(from: string, to: string): { readonly status: number | null; readonly stdout: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "copy", "--from", from, "--to", to], {
    encoding: "utf8",
  });
  return { status, stdout: stdout + stderr };
}

export const startCopy = (from: string, to: string): ChildProcess =>
  spawn(process.execPath, [program, "copy", "--from", from, "--to", to], { stdio: "ignore" });
