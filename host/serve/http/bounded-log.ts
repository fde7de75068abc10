/** The operator's log of requests, bounded because clients can cause any number of lines. */
import { failureLine } from "../../log/failure-line.ts";
import type { LogEntry } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import { visibleText } from "../../values/visible-text.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";

const minuteMs = 60_000;
const faultCharsMax = 200;

/** Each of the two logs a limited number per minute on its own, so a flood of one does not hide the other. */
export function boundedLog(onLog: (entry: LogEntry) => void) {
  const write = (line: Pick<LogEntry, "level" | "text">): void =>
    writeLog(onLog, { ...line, tool: "serve", userId: "", callId: "" });
  return {
    /** An internal error, with all its causes. */
    onError: fewOfAMinute((error: unknown) => write(failureLine(error))),
    /** A client's mistake in MCP. One short line, because it can quote the client. */
    onFault: fewOfAMinute(({ message }: Error) =>
      write({ level: "warn", text: `mcp: ${visibleText(message.slice(0, faultCharsMax))}` }),
    ),
  };
}

function fewOfAMinute<Value>(tell: (value: Value) => void): (value: Value) => void {
  let endsAtMs = 0;
  let left = 0;
  return (value) => {
    const nowMs = performance.now();
    if (nowMs >= endsAtMs) [endsAtMs, left] = [nowMs + minuteMs, mcpLimits.faultsToldMax];
    if (left-- > 0) tell(value);
  };
}
