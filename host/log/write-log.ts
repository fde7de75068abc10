import type { LogEntry } from "./log-entry.ts";

/** A log that fails must not undo a call. */
export function writeLog(onLog: (entry: LogEntry) => void, entry: LogEntry): void {
  try {
    onLog(entry);
  } catch {
    // It was told once; there is nobody else to tell.
  }
}
