import { auditLimits } from "../../shared/limits.ts";
import type { AuditLogOptions } from "../audit/audit-log.ts";
import { isBesideName } from "../log-file/names-and-head.ts";
import { checkFields } from "../values/known-fields.ts";

/** Returns the options with their defaults. Throws `TypeError` or `RangeError` for invalid ones. */
export function checkAuditLogOptions(options: AuditLogOptions): Required<AuditLogOptions> {
  checkFields("auditLog", options, { file: true, fileBytesMax: true, onFailure: true });
  const { file, fileBytesMax = auditLimits.fileBytesMax, onFailure = "refuse" } = options;
  if (typeof file !== "string" || file === "") throw new TypeError("the audit log needs a file");
  // Operating systems cut a path at a NUL. A separator at the end names a folder.
  if (/\0|[\\/]$/.test(file)) throw new TypeError("the audit log's file must be a file's path, without NUL");
  if (isBesideName(file)) throw new TypeError("the audit log's file must not end in .head or .<12 digits>.jsonl");
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
