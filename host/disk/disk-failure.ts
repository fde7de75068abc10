import type { ErrorCode } from "../../shared/errors.ts";
import { quoted } from "../../shared/text.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";

/** The same text, whether our check or the kernel refuses a link. */
export const linkInPlace = "a link is in its place";
export const notRegular = "it is not a regular file";

/** The system codes that give a more exact reason than "the disk refused". */
const known: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOSPC: ["STORAGE_FULL", "the disk is full"],
  EDQUOT: ["STORAGE_FULL", "the disk's quota is used up"],
  ELOOP: ["STORAGE_UNSAFE", linkInPlace],
  ENXIO: ["STORAGE_UNSAFE", notRegular],
  ENOTDIR: ["STORAGE_UNSAFE", "something else is in a folder's place"],
  EISDIR: ["STORAGE_UNSAFE", "a folder is in its place"],
  ENOTEMPTY: ["STORAGE_UNSAFE", "a folder is in its place"],
  EROFS: ["STORAGE_FAILED", "the disk is read-only"],
  EMFILE: ["STORAGE_BUSY", "too many files are open"],
  ENFILE: ["STORAGE_BUSY", "too many files are open"],
  ENOMEM: ["STORAGE_BUSY", "the machine is short of memory"],
  ENOLCK: ["STORAGE_BUSY", "the machine is short of locks"],
  EAGAIN: ["STORAGE_BUSY", "the machine is short of memory or locks"],
  EIO: ["STORAGE_FAILED", "the disk has an error"],
  EACCES: ["STORAGE_FAILED", "the disk does not permit it"],
  EPERM: ["STORAGE_FAILED", "the disk does not permit it"],
  EBUSY: ["STORAGE_FAILED", "it is in use, for example as a mount point"],
  ENOENT: ["STORAGE_FAILED", "it has gone meanwhile"],
};

/**
 * Turns an error of the operating system into a `ToolError`. The message has only the action and a reason. Paths and
 * the system's own words stay in `cause`, which never leaves the host.
 */
export function failureOfDisk(error: unknown, action: string): ToolError {
  if (error instanceof ToolError) return error;
  // Not the system's error, so a bug of ours.
  if (!(error instanceof Error && "errno" in error)) return asToolError(error, action);
  const [code, reason] = known[systemCode(error) ?? ""] ?? ["STORAGE_FAILED", "the disk refused"];
  return new ToolError(code, `Cannot ${action}: ${reason}`, { cause: error });
}

/**
 * As `failureOfDisk`, for one file. A file that the host may not open is like one that is no plain file: it has to be
 * told, and the others can be used.
 */
export function failureOfFile(error: unknown, shown: string): ToolError {
  const failure = failureOfDisk(error, `use ${quoted(shown)}`);
  return isForbidden(error) ? new ToolError("STORAGE_UNSAFE", failure.message, { cause: error }) : failure;
}

/** Whether the disk or its quota is full. */
export const isFullDisk = (error: unknown): error is ToolError =>
  error instanceof ToolError && error.code === "STORAGE_FULL";

/** Whether the system does not permit it. */
export function isForbidden(error: unknown): boolean {
  return systemCode(error instanceof ToolError ? error.cause : error) === "EACCES";
}

export function isMissing(error: unknown): boolean {
  return systemCode(error) === "ENOENT";
}

/** Whether it is a failure to write to a disk, or in a folder, that this process can only read. */
export function isReadOnly(error: unknown): boolean {
  return isOfReadOnlyDisk(error) || isForbidden(error);
}

export function isOfReadOnlyDisk(error: unknown): boolean {
  return systemCode(error instanceof ToolError ? error.cause : error) === "EROFS";
}

export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
