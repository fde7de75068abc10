import type { LogEntry, Runtime } from "../api.ts";
import { createRuntime } from "../runtime.ts";

/** The options that commands which open a runtime have in common. */
export interface OpenOptions {
  readonly data?: string;
  readonly policy?: string;
}

/** A runtime for one command: a single thread, logs on standard error. */
export function openRuntime({ data: dataDir = "data", policy }: OpenOptions): Promise<Runtime> {
  return createRuntime({ dataDir, threadsMax: 1, onLog: printLog, ...(policy !== undefined && { policy }) });
}

function printLog({ level, tool, text }: LogEntry): void {
  process.stderr.write(`${level} ${tool}: ${text}\n`);
}
