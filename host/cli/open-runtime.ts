import type { LogEntry, Runtime } from "../api.ts";
import { createRuntime } from "../runtime.ts";

/** A runtime for one command: a single thread, logs on standard error. */
export function openRuntime(dataDir = "data"): Promise<Runtime> {
  return createRuntime({ dataDir, threadsMax: 1, onLog: printLog });
}

function printLog({ level, tool, text }: LogEntry): void {
  process.stderr.write(`${level} ${tool}: ${text}\n`);
}
