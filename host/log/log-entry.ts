/** The level and text of a line in the operator's log. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
  /** What it is about, if many calls can have the same to tell: one line of a topic is written in a minute. */
  readonly topic?: string;
}

/** One line that a guest or the host wrote for the operator. Not for models: it can contain host paths. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  /**
   * The called tool, or empty; `store` for repairs in a user's folder; `thread` for a thread that died; `log` for the
   * audit log; `policy` for what the policy takes away; `read-only` for what a read-only runtime does; where a refused
   * request arrived, such as `http`.
   */
  readonly tool: string;
  /** Empty if there is none, for example for a thread. */
  readonly userId: string;
  /** The same as in the audit log: the caller's, or a random UUID. Empty if no call caused the line. */
  readonly callId: string;
  readonly text: string;
}

/** Identifies the call or operation that a line or a change comes from. */
export type LogSource = Pick<LogEntry, "tool" | "userId" | "callId">;
