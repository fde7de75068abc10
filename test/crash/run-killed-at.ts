/** Runs a process under strace from the moment it is ready, so that the kernel kills it at a system call, or logs them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

import { compiledScript } from "./store-under-test.ts";
import { traceProcess } from "./strace.ts";
import { fileCalls, systemCalls } from "./syscall-log.ts";
import type { SystemCall } from "./syscall-log.ts";

interface KillPoint {
  readonly systemCall: string;
  /** The number of this call among those of its name, from 1. */
  readonly ordinal: number;
  readonly threads: "main" | "all";
}

const workload = compiledScript("kill/kill-workload.js");

/** The workload prints "ready" after its first steps, and takes another one when it reads "go". Returns its output. */
export async function runKilledAt({ systemCall, ordinal, threads }: KillPoint, input: string): Promise<string> {
  const injection = ["-e", `trace=${systemCall}`, "-e", `inject=${systemCall}:signal=KILL:when=${ordinal}`];
  return (await runTraced(input, threads, injection)).said;
}

/** Every call on files between "ready" and the regular end. */
export async function callsOf(input: string, logFile: string, onReady: () => void): Promise<SystemCall[]> {
  const options = ["-y", "-o", logFile, "-e", `trace=${fileCalls.join(",")}`];
  const { pid, said } = await runTraced(input, "all", options, onReady);
  if (!said.endsWith("acknowledged\n")) throw new Error(`The workload did not end on its own: ${said}`);
  return systemCalls(readFileSync(logFile, "utf8"), pid);
}

/** `options`: for strace. */
async function runTraced(
  input: string,
  threads: "main" | "all",
  options: readonly string[],
  onReady: () => void = () => {},
): Promise<{ readonly pid: number; readonly said: string }> {
  const child = spawn(process.execPath, [workload, input], {
    stdio: ["pipe", "pipe", "inherit"],
    // A single thread makes all flushes, so that they can be counted.
    env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
  });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  try {
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (text: Buffer) => {
        said += text.toString();
        if (said.startsWith("ready\n")) resolve();
      });
      child.once("close", () => reject(new Error("The process did not become ready")));
    });
    onReady();
    const pid = child.pid ?? 0;
    const tracing = await traceProcess(pid, threads, options);
    child.stdin.write("go\n");
    const [code, signal] = await closed;
    await tracing.ended;
    if (code !== 0 && signal !== "SIGKILL") throw new Error(`The workload ended with ${code ?? signal}`);
    return { pid, said };
  } finally {
    child.kill("SIGKILL");
  }
}
