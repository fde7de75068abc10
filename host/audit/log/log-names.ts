import { auditLimits } from "../../../shared/limits.ts";
import type { AuditLogOptions } from "../audit-log.ts";

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

/** Beside `audit.jsonl` lie its head and its full files: `audit.jsonl.head`, `audit.jsonl.000000000000.jsonl`. */
export const headNameOf = (name: string): string => `${name}.head`;

/** A full file is named after its first record. */
export const fullNameOf = (name: string, firstSeq: number): string =>
  `${name}.${String(firstSeq).padStart(12, "0")}.jsonl`;

/** Whether the name is such as lies beside another log: a log of that name would be written into it. */
const isBesideName = (name: string): boolean => /\.(head|\d{12}\.jsonl)$/i.test(name);

/** The number of the first record in a full file of a log, as its name says; `null` for another file. */
export function firstSeqIn(fileName: string, name: string): number | null {
  if (!fileName.startsWith(`${name}.`)) return null;
  const digits = /^(\d{12})\.jsonl$/.exec(fileName.slice(name.length + 1))?.[1];
  return digits === undefined ? null : Number(digits);
}
