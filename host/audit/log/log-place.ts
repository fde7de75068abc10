import { basename, dirname, resolve } from "node:path";

import { failureOfDisk } from "../../disk/disk-failure.ts";
import { DiskRoot } from "../../disk/pinned-directory.ts";
import { ToolError } from "../../values/tool-error.ts";

/** Where a log's file is. The operator may use a link for its folder. */
export function placeOf(file: string): { readonly path: string; readonly root: DiskRoot; readonly name: string } {
  const path = resolve(file);
  return { path, root: DiskRoot.ofOperator(dirname(path)), name: basename(path) };
}

/** A failure of the disk as one of the log. The disk's own error stays in `cause`. */
export function failureOfLog(error: unknown, action: "open" | "read" | "write"): ToolError {
  const failure = failureOfDisk(error, `${action} the audit log`);
  // The disk's own messages begin with words about the user's folder.
  const reason = failure.message.slice(failure.message.indexOf(": ") + 2);
  return new ToolError(failure.tableCode, `Cannot ${action} the audit log: ${reason}`, { cause: failure.cause });
}
