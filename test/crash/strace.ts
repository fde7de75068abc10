/** strace on a process that runs already, so that calls are counted from that moment on and not from Node's start. */
import { spawn } from "node:child_process";
import { once } from "node:events";

import { requirePackages } from "../support/system-packages.ts";

export interface Tracing {
  /** Ends by itself when the process does. */
  readonly ended: Promise<unknown>;
  /** The process goes on as if nothing had been. */
  detach(): Promise<void>;
}

/**
 * Resolves when the kernel stops the process at each call that `options` name. `threads: "all"` also follows the threads
 * that flush; `"main"` only follows the one that does everything else, so that nothing hits Node's own wake-up calls.
 */
export async function traceProcess(pid: number, threads: "main" | "all", options: readonly string[]): Promise<Tracing> {
  const follow = threads === "all" ? ["-f"] : [];
  const log = options.includes("-o") ? [] : ["-o", "/dev/null"];
  const strace = spawn("strace", [...follow, ...log, ...options, "-p", `${pid}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(strace, "close");
  let said = "";
  await new Promise<void>((resolve, reject) => {
    strace.once("error", reject);
    strace.stderr.on("data", (text: Buffer) => {
      said += text.toString();
      if (/Process \d+ attached/.test(said)) resolve();
    });
    strace.once("close", () => reject(new Error(`strace could not attach: ${said.trim()}`)));
  });
  const detach = async (): Promise<void> => {
    strace.kill("SIGINT");
    await ended;
  };
  return { ended, detach };
}

/** Why calls cannot be made to fail here, or `null`. */
export async function whyNoTracing(): Promise<string | null> {
  if (process.platform !== "linux") return "strace is Linux's";
  const missing = await requirePackages({ strace: "strace" });
  if (missing !== null) return missing;
  const idle = spawn("sleep", ["600"], { stdio: "ignore" });
  try {
    await once(idle, "spawn");
    const tracing = await traceProcess(idle.pid ?? 0, "main", []);
    await tracing.detach();
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    idle.kill("SIGKILL");
  }
}
