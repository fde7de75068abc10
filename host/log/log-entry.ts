/** What the host and its guests tell the operator. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

/** One line that a guest or the host wrote for the operator. It may name host paths: not for models. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  /**
   * The tool that was called, empty when none was; `store` for what was found in a folder and mended; `thread` for one
   * that has died; `log` for the audit log.
   */
  readonly tool: string;
  /** Empty where there is none, and so for a thread. */
  readonly userId: string;
  /** As in the audit log: the caller's, or a random UUID. Empty for what no call has caused. */
  readonly callId: string;
  readonly text: string;
}

/** What names the call or the operation that a line, or a change, comes from. */
export type LogSource = Pick<LogEntry, "tool" | "userId" | "callId">;
