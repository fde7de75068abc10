import { ToolError } from "../../tool-error.ts";

/**
 * An error of the operating system as one of ours. The message says what was to be done and no more: paths and the
 * system's own words stay in `cause`, which no border lets through.
 */
export function failureOfDisk(error: unknown, action: string): ToolError {
  if (error instanceof ToolError) return error;
  const code = systemCode(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new ToolError("STORAGE_FULL", `Cannot ${action}: the disk is full`, { cause: error });
  }
  if (code === "ELOOP" || code === "ENXIO" || code === "ENOTDIR" || code === "EISDIR") {
    return new ToolError("STORAGE_UNSAFE", `Cannot ${action}: it is not a regular file`, { cause: error });
  }
  return new ToolError("STORAGE_FAILED", `Cannot ${action}: the disk refused`, { cause: error });
}

export function isMissing(error: unknown): boolean {
  return systemCode(error) === "ENOENT";
}

function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
