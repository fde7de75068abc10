import { inspect } from "node:util";

import { ToolError } from "../values/tool-error.ts";
import type { LogLine } from "./log-entry.ts";

/** What is behind a failure that its caller gets, for the operator alone: it can contain host paths. */
export function causeLines(failure: ToolError): LogLine[] {
  const { cause } = failure;
  if (cause === undefined) return [];
  return [cause instanceof ToolError ? failureLine(cause) : (systemLineOf(failure) ?? inspected(cause))];
}

/** A failure that nobody else gets, for the operator alone: it can contain host paths. */
export function failureLine(error: unknown): LogLine {
  const ofSystem = systemLineOf(error);
  if (ofSystem !== null) return ofSystem;
  if (!(error instanceof ToolError) || error.cause !== undefined) return inspected(error);
  return { level: "error", text: `${error.message} (${error.code})`, topic: error.message };
}

const inspected = (value: unknown): LogLine => ({ level: "error", text: `host: ${inspect(value)}` });

/** One line about an error of the system, whose code says what to do; `null` for any other failure. */
function systemLineOf(failure: unknown): LogLine | null {
  if (!(failure instanceof ToolError)) return null;
  const { cause, tableCode } = failure;
  // The innermost of our errors names what failed.
  if (cause instanceof ToolError) return systemLineOf(cause);
  // Any other error with a system's code is a fault of the runtime, and its stack helps.
  if (!tableCode.startsWith("STORAGE_") || !(cause instanceof Error) || !("code" in cause)) return null;
  return systemLine(failure, String(cause.code));
}

/** What failed, the codes, and what to do, in one line. */
function systemLine(error: ToolError, code: string): LogLine {
  const what = `${error.message} (${code}), so calls fail with ${error.code}`;
  const remedy = remedies[code] === undefined ? "" : `. ${remedies[code]}`;
  if (!ofEverything.has(code)) return { level: "error", text: what + remedy, topic: `${code} ${error.message}` };
  return { level: "error", text: `${what}${remedy}. This is told once a minute`, topic: code };
}

const permit = "Check the owner and the permissions of the folder and its files";
const freeSpace = 'Free space on that disk, for example with "memcell trash purge"';

/** Problems of a disk, the process or the machine: the first call that meets one tells it for all. */
const ofEverything: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE", "ENOMEM"]);

/** What an operator can do. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: freeSpace,
  EDQUOT: `${freeSpace}, or raise the quota`,
  EROFS: "Mount that disk for writing",
  EIO: "Look for faults of the disk in the system's log",
  EMFILE: "Raise the limit of open files of the process (ulimit -n)",
  ENFILE: "Raise the limit of open files of the machine (fs.file-max)",
  ENOMEM: "Give the process more memory",
  EACCES: permit,
  EPERM: permit,
};
