import { basename, dirname, resolve } from "node:path";

import { auditLimits } from "../../../shared/limits.ts";
import type { DiskFile } from "../../disk/directory.ts";
import { failureOfDisk } from "../../disk/disk-failure.ts";
import { DiskRoot } from "../../disk/pinned-directory.ts";
import { readLines } from "../../log-file/lines.ts";
import type { Line } from "../../log-file/lines.ts";
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

/** The lines of a log's file. A longer one than a record can be is not kept in memory. */
export const linesOf = (file: DiskFile, start?: number): Generator<Line> =>
  readLines(file, auditLimits.recordBytesMax, start);

/** The size of a line that holds only a position. Shorter lines are not parsed, which saves time. */
export const recordBytesMin: number = JSON.stringify({ seq: 0, prev: "" }).length + 64;

/** A line as JSON, whatever version of memcell has written it; `undefined` when it is not JSON, or too short for a record. */
export function parseLine({ bytes }: Line): unknown {
  // A line that cannot be parsed costs as much time as ten records.
  if (bytes === null || bytes.length < recordBytesMin) return undefined;
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The number of a record, and the hash of the one before it. */
interface ChainPosition {
  readonly seq: number;
  readonly prev: string;
}

/** What a parsed line has of them; `null` when it does not have valid ones. */
export function positionOf(record: unknown): ChainPosition | null {
  if (typeof record !== "object" || record === null || !("seq" in record) || !("prev" in record)) return null;
  const { seq, prev } = record;
  if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 0 || seq > auditLimits.seqMax) return null;
  return typeof prev === "string" && /^[0-9a-f]{64}$/.test(prev) ? { seq, prev } : null;
}

/** The same of a line; `null` when it is no record. */
export const positionIn = (line: Line): ChainPosition | null => (line.isTorn ? null : positionOf(parseLine(line)));

/** The number of a file's first record; `null` when its first line is not a record. */
export function firstSeqOf(file: DiskFile): number | null {
  for (const line of linesOf(file)) return positionIn(line)?.seq ?? null;
  return null;
}
