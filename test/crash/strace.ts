/** Attaches strace to a running process, so that it counts calls from that moment on and not from Node's start. */
import { spawn } from "node:child_process";
import { once } from "node:events";

import { requirePackages } from "../support/system-packages.ts";

export interface Tracing {
  /** Resolves when the process ends. */
  readonly ended: Promise<unknown>;
  /** Detaches strace. The process continues normally. */
  detach(): Promise<void>;
}

/**
 * Resolves when the kernel stops the process at each call that `options` name. `threads: "all"` also follows the threads
 * that flush. `"main"` follows only the main thread, which does everything else, to leave out Node's wake-up calls.
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

/** Returns why calls cannot be made to fail on this machine, or `null`. */
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
