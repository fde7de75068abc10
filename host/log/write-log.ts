import type { LogEntry } from "./log-entry.ts";

/** Writes a line. A failure of the log must not fail a call. */
export function writeLog(onLog: (entry: LogEntry) => void, entry: LogEntry): void {
  try {
    onLog(entry);
  } catch {
    // There is no other place to report it.
  }
}
