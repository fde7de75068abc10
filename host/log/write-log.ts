import type { LogEntry } from "./log-entry.ts";

/** Writes a line. A failure of the log must not fail a call, nor end the process: nothing awaits an `async` function. */
export function writeLog(onLog: (entry: LogEntry) => unknown, entry: LogEntry): void {
  try {
    const returned = onLog(entry);
    if (returned instanceof Promise) returned.catch(() => {});
  } catch {
    // There is no other place to report it.
  }
}
