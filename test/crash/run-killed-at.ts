/** Has the kernel kill a process at a system call of its second step, and returns the process's output. */
import { spawn } from "node:child_process";
import { once } from "node:events";

import { traceProcess } from "./strace.ts";

export interface KillPoint {
  readonly systemCall: string;
  /** The number of this call among those of its name, from 1. */
  readonly ordinal: number;
  readonly threads: "main" | "all";
}

/** The workload prints "ready" after its first step, and takes the second when it reads "go". */
export async function runKilledAt(
  { systemCall, ordinal, threads }: KillPoint,
  workload: string,
  args: readonly string[],
): Promise<string> {
  const child = spawn(process.execPath, [workload, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (text: Buffer) => {
      said += text.toString();
      if (said.startsWith("ready\n")) resolve();
    });
    child.once("close", () => reject(new Error("The process did not become ready")));
  });
  const injection = ["-e", `trace=${systemCall}`, "-e", `inject=${systemCall}:signal=KILL:when=${ordinal}`];
  const tracing = await traceProcess(child.pid ?? 0, threads, injection);
  child.stdin.write("go\n");
  await closed;
  await tracing.ended;
  return said;
}
