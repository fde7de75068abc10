/** What the operator is told of requests. Whoever asks can cause as much of it as he likes. */
import { causeLines } from "../../log/cause-line.ts";
import type { LogEntry } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import { visibleText } from "../../values/visible-text.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";

const minuteMs = 60_000;
const faultCharsMax = 200;

/** Each of the two tells so many of a minute, and keeps silent about the rest: no flood hides the other. */
export function boundedLog(onLog: (entry: LogEntry) => void) {
  const write = (line: Pick<LogEntry, "level" | "text">): void =>
    writeLog(onLog, { ...line, tool: "serve", userId: "", callId: "" });
  return {
    /** What went wrong inside, with all that lies behind it. */
    onError: fewOfAMinute((error: unknown) => causeLines([error]).forEach(write)),
    /** A mistake of a client in MCP: one short line, for it may quote what the client sent. */
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
