import { auditLimits } from "../../../shared/limits.ts";
import { checkFields } from "../../values/known-fields.ts";
import type { AuditLogOptions } from "../audit-log.ts";

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

/** For `audit.jsonl`: `audit.jsonl.head`. */
export const headNameOf = (name: string): string => `${name}.head`;

/** A full file is named after its first record: `audit.jsonl.000000000000.jsonl`. */
export const fullNameOf = (name: string, firstSeq: number): string =>
  `${name}.${String(firstSeq).padStart(12, "0")}.jsonl`;

/** Whether the name could be that of another log's head or full file, which this log would then overwrite. */
const isBesideName = (name: string): boolean => /\.(head|\d{12}\.jsonl)$/i.test(name);

/** The number of the first record in a log's full file, from the file's name; `null` for other files. */
export function firstSeqIn(fileName: string, name: string): number | null {
  if (!fileName.startsWith(`${name}.`)) return null;
  const digits = /^(\d{12})\.jsonl$/.exec(fileName.slice(name.length + 1))?.[1];
  return digits === undefined ? null : Number(digits);
}
