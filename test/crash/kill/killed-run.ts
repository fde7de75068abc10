/** Runs the workload in its own process, and has the kernel kill it at one system call. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

import { compiledScript } from "../store-under-test.ts";
import { traceProcess } from "../strace.ts";
import { fileCalls, systemCalls, threadsOf } from "../syscall-log.ts";
import type { SystemCall } from "../syscall-log.ts";

/** A process that says "ready", works when it is told to, and then says "acknowledged". */
export interface KillableProcess {
  /** A compiled script of the crash suites. */
  readonly script: string;
  /** Its argument, as JSON. */
  readonly workload: object;
}

export interface KilledRun {
  readonly isKilled: boolean;
  readonly isAcknowledged: boolean;
}

/** The process dies before the kernel executes the call. */
export async function runKilledAt(killable: KillableProcess, call: SystemCall): Promise<KilledRun> {
  const { name, ordinal } = call;
  const injection = ["-e", `trace=${name}`, "-e", `inject=${name}:signal=KILL:when=${ordinal}`];
  const { isKilled, isAcknowledged } = await run(killable, threadsOf(call), injection);
  return { isKilled, isAcknowledged };
}

/** Every call on files between "ready" and the regular end. */
export async function callsOf(killable: KillableProcess, logFile: string, onReady: () => void): Promise<SystemCall[]> {
  const options = ["-y", "-o", logFile, "-e", `trace=${fileCalls.join(",")}`];
  const { pid, isKilled, isAcknowledged } = await run(killable, "all", options, onReady);
  if (isKilled || !isAcknowledged) throw new Error("The workload did not end on its own");
  return systemCalls(readFileSync(logFile, "utf8"), pid);
}

async function run(
  { script, workload }: KillableProcess,
  threads: "main" | "all",
  options: readonly string[],
  onReady: () => void = () => {},
): Promise<KilledRun & { readonly pid: number }> {
  const child = spawn(process.execPath, [compiledScript(script), JSON.stringify(workload)], {
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
      child.once("close", () => reject(new Error("The workload did not become ready")));
    });
    onReady();
    const pid = child.pid ?? 0;
    const tracing = await traceProcess(pid, threads, options);
    child.stdin.write("go\n");
    const [code, signal] = await closed;
    await tracing.ended;
    if (code !== 0 && signal !== "SIGKILL") throw new Error(`The workload ended with ${code ?? signal}`);
    return { pid, isKilled: signal === "SIGKILL", isAcknowledged: said.includes("acknowledged\n") };
  } finally {
    child.kill("SIGKILL");
  }
}
