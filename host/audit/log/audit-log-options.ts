import { auditLimits } from "../../../shared/limits.ts";
import type { AuditLogOptions } from "../audit-log.ts";
import { isBesideName } from "./log-names.ts";

/** The options with their defaults. Throws for those that make no sense: a mistake of the program, not of a call. */
export function checkAuditLogOptions(options: AuditLogOptions): Required<AuditLogOptions> {
  const { file, fileBytesMax = auditLimits.fileBytesMax, onFailure = "refuse" } = options;
  if (typeof file !== "string" || file === "") throw new TypeError("the audit log needs a file");
  // Systems cut what is behind a NUL; a separator at the end names a folder.
  if (/\0|[\\/]$/.test(file)) throw new TypeError("the audit log's file is not the name of a file");
  if (isBesideName(file)) throw new TypeError("the audit log's file has the name of a log's head, or of its full file");
  if (!Number.isSafeInteger(fileBytesMax) || fileBytesMax < auditLimits.fileBytesMin) {
    throw new RangeError(
      `the audit log's fileBytesMax is ${String(fileBytesMax)}, allowed: a whole number from ${auditLimits.fileBytesMin}`,
    );
  }
  if (onFailure !== "refuse" && onFailure !== "continue") {
    throw new RangeError(`the audit log's onFailure is ${String(onFailure)}, allowed: "refuse", "continue"`);
  }
  return { file, fileBytesMax, onFailure };
}
