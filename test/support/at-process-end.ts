/** Cleans up after this process however it ends. Test workers are killed, so their own handlers may not run. */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Runs the script in a shell, with the arguments as `$1` and so on, when this process has ended: its end closes the pipe that the
 * shell reads. Does not keep this process alive.
 *
 * @returns what calls it off
 */
export function atProcessEnd(script: string, ...args: readonly string[]): () => void {
  const shell = spawn("sh", ["-c", `cat >/dev/null; ${script}`, "sh", ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    // A signal to the group of this process must not end the shell too.
    detached: true,
  });
  shell.unref();
  (shell.stdin as Socket).unref();
  return () => shell.kill("SIGKILL");
}
