import { failureOfDisk } from "../../../disk/disk-failure.ts";
import { ToolError } from "../../../values/tool-error.ts";

export type LogAction = "open" | "lock" | "read" | "write" | "flush";

/** What the disk has refused, as a failure of the log. The disk's own words stay in `cause`. */
export function failureOfLog(error: unknown, action: LogAction): ToolError {
  const failure = failureOfDisk(error, `${action} the audit log`);
  // What the store's parts throw speaks of the user's folder.
  const reason = failure.message.slice(failure.message.indexOf(": ") + 2);
  return new ToolError(failure.tableCode, `Cannot ${action} the audit log: ${reason}`, {
    cause: failure.cause ?? error,
  });
}

export function attempt<Result>(action: LogAction, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw failureOfLog(error, action);
  }
}
