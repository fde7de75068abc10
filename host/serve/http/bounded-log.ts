/** The operator's log of requests, bounded because clients can cause any number of lines. */
import { failureLine } from "../../log/failure-line.ts";
import type { LogEntry } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import { RateLimit } from "../../values/rate-limit.ts";
import { visibleText } from "../../values/visible-text.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";

/** Logs a limited number of each kind per minute, so a flood of one does not hide the other. */
export function boundedLog(onLog: (entry: LogEntry) => void) {
  const told = new RateLimit(mcpLimits.faultsPerMinute, 2);
  const tell = (kind: string, lineOf: () => Pick<LogEntry, "level" | "text">): void => {
    if (told.count(kind) === 0) writeLog(onLog, { ...lineOf(), tool: "serve", userId: "", callId: "" });
  };
  return {
    /** An internal error, with all its causes. */
    onError: (error: unknown) => tell("error", () => failureLine(error)),
    /** A client's mistake in MCP. One short line, because it can quote the client. */
    onFault: ({ message }: Error) =>
      tell("fault", () => ({ level: "warn", text: `mcp: ${visibleText(message.slice(0, mcpLimits.faultCharsMax))}` })),
  };
}
