/** Handles the failure of one plugin among several: the others still count, and the failure is logged. */
import type { ErrorCode } from "../../shared/errors.ts";
import type { LogEntry } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import { namesIn } from "../values/call-context.ts";
import type { AskedContext } from "../values/call-context.ts";
import { asToolError } from "../values/tool-error.ts";
import type { ToolError } from "../values/tool-error.ts";

/** Leaves a plugin out and returns its failure. Throws if all plugins or the whole request have failed. */
export type LeaveOut = (found: CatalogTool, error: unknown) => ToolError;

/** No plugin can report these codes: they concern the caller or the runtime, so the whole request fails. */
const ofTheRequest: ReadonlySet<ErrorCode> = new Set(["USER_REQUIRED", "USER_INVALID", "BUSY", "CLOSED", "CANCELLED"]);

/** For one request to all of `tools`. If all fail, the first failure is thrown. A single tool's is not logged. */
export function leaveOutOf(
  tools: readonly CatalogTool[],
  context: AskedContext,
  onLog: (entry: LogEntry) => void,
): LeaveOut {
  const failures = new Map<CatalogTool, ToolError>();
  return (found, error) => {
    const failure = asToolError(error, `ask ${found.family}`);
    if (tools.length === 1 || ofTheRequest.has(failure.tableCode)) throw failure;
    const { userId, callId } = namesIn(context);
    const text = `${found.family} is left out: ${failure.code}: ${failure.message}`;
    const level = failure.blame === "host" ? "error" : "warn";
    writeLog(onLog, { level, tool: found.tool.name, userId: userId ?? "", callId: callId ?? "", text });
    failures.set(found, failure);
    if (failures.size === tools.length) throw failures.values().next().value ?? failure;
    return failure;
  };
}
