import type { ToolError } from "../values/tool-error.ts";
import { causeLines } from "./failure-line.ts";
import type { LogEntry, LogSource } from "./log-entry.ts";

/** Writes a line. A failure of the log must not fail a call, nor end the process: nothing awaits an `async` function. */
export function writeLog(onLog: (entry: LogEntry) => unknown, entry: LogEntry): void {
  try {
    const returned = onLog(entry);
    if (returned instanceof Promise) returned.catch(() => {});
  } catch {
    // There is no other place to report it.
  }
}

/** Writes what is behind a failure that its caller gets. */
export function writeCause(onLog: (entry: LogEntry) => unknown, failure: ToolError, source: LogSource): void {
  for (const line of causeLines(failure)) writeLog(onLog, { ...line, ...source });
}
