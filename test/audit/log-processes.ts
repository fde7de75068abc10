/** Starts processes that write a log, and traces them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { traceProcess } from "../crash/strace.ts";
import { systemCalls } from "../crash/syscall-log.ts";
import type { SystemCall } from "../crash/syscall-log.ts";
import type { LogWork } from "./log-process.ts";

const script = fileURLToPath(new URL("../../dist/test/audit/log-process.js", import.meta.url));

export interface WritingProcess extends Disposable {
  readonly pid: number;
  /** Resolves when the process has printed this line. */
  until(line: string): Promise<void>;
  go(): void;
  kill(): void;
  /** Everything printed after "ready". Resolves when the process has ended. */
  readonly ended: Promise<{ readonly told: readonly string[]; readonly signal: NodeJS.Signals | null }>;
}

/** Resolves when the process is ready and waits for `go()`. */
export async function startWriting(work: LogWork): Promise<WritingProcess> {
  const child = spawn(process.execPath, [script, JSON.stringify(work)], { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const told: string[] = [];
  const lines = createInterface({ input: child.stdout }).on("line", (line) => void told.push(line));
  const until = async (line: string): Promise<void> => {
    while (!told.includes(line)) await once(lines, "line");
  };
  await until("ready");
  const kill = (): void => void child.kill("SIGKILL");
  return {
    pid: child.pid ?? 0,
    until,
    go: () => void child.stdin.write("go\n"),
    kill,
    ended: closed.then(([, signal]) => ({ told: told.slice(1), signal })),
    [Symbol.dispose]: kill,
  };
}

/** Returns what the process printed. `options` are strace's; it attaches when the process is ready. */
export async function runTraced(
  work: LogWork,
  options: readonly string[],
  threads: "main" | "all" = "main",
): Promise<{ told: readonly string[]; signal: NodeJS.Signals | null; pid: number }> {
  using writing = await startWriting(work);
  const tracing = await traceProcess(writing.pid, threads, options);
  writing.go();
  const ended = await writing.ended;
  await tracing.ended;
  return { ...ended, pid: writing.pid };
}

const fileCalls = "openat mkdir rename write pwrite64 ftruncate fsync fdatasync fcntl pread64 getdents64 statx close";

/** Every file system call of a run in which nothing fails. */
export async function callsOf(work: LogWork, logFile: string): Promise<SystemCall[]> {
  const options = ["-y", "-o", logFile, "-e", `trace=${fileCalls.split(" ").join(",")}`];
  const { pid, told } = await runTraced(work, options, "all");
  if (told.at(-1) !== "ok close") throw new Error(`The log was not written: ${told.join(", ")}`);
  return systemCalls(readFileSync(logFile, "utf8"), pid);
}
