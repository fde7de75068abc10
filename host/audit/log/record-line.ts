/** The records of a log as lines: for writing, and as they are found again. */
import { auditLimits } from "../../../shared/limits.ts";
import { safeParse } from "../../../shared/zod.ts";
import type { DiskFile } from "../../disk/directory.ts";
import { hashOf, noHash } from "../../log-file/chain.ts";
import type { ChainHead } from "../../log-file/chain.ts";
import { readLines } from "../../log-file/lines.ts";
import type { Line } from "../../log-file/lines.ts";
import { ToolError } from "../../values/tool-error.ts";
import { auditRecordSchema, positionSchema } from "../audit-record.ts";
import type { AuditEntry, ChainPosition } from "../audit-record.ts";

const { recordBytesMax } = auditLimits;

/**
 * Returns the line of the record after `last`, with its line feed, and where the chain then ends. Throws `INTERNAL` for
 * an invalid entry, which is a bug of the host: it could contain data that the log must not contain.
 */
export function recordLine(entry: AuditEntry, last: ChainHead | null): { bytes: Buffer; head: ChainHead } {
  const seq = last === null ? 0 : last.seq + 1;
  const record = { seq, time: new Date().toISOString(), prev: last?.hash ?? noHash, ...entry };
  const parsed = safeParse(auditRecordSchema, record);
  if (!parsed.success) throw unfit("it does not match the record format", parsed.error);
  const bytes = Buffer.from(`${JSON.stringify(record)}\n`);
  if (bytes.length > recordBytesMax) throw unfit(`it is ${bytes.length} bytes, at most ${recordBytesMax} allowed`);
  return { bytes, head: { seq, hash: hashOf(bytes.subarray(0, -1)) } };
}

function unfit(reason: string, cause?: unknown): ToolError {
  return new ToolError("INTERNAL", `Cannot write an audit record: ${reason}`, { cause });
}

/** The lines of a log's file. A longer one than a record can be is not kept in memory. */
export const linesOf = (file: DiskFile, start?: number): Generator<Line> => readLines(file, recordBytesMax, start);

/** The size of a line that holds only a position. Shorter lines are not parsed, which saves time. */
export const recordBytesMin: number = JSON.stringify({ seq: 0, prev: noHash }).length;

/** A whole line as JSON; `undefined` when it is not JSON, or too short for a record. */
export function parseLine({ bytes, isTorn }: Line): unknown {
  // A line that cannot be parsed costs as much time as ten records.
  if (isTorn || bytes === null || bytes.length < recordBytesMin) return undefined;
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The position that a record has in itself, whatever version of memcell has written it; `null` without a valid one. */
export const positionOf = (record: unknown): ChainPosition | null => safeParse(positionSchema, record).data ?? null;

/** The number of a file's first record; `null` when its first line is not a record. */
export function firstSeqOf(file: DiskFile): number | null {
  for (const line of linesOf(file)) return positionOf(parseLine(line))?.seq ?? null;
  return null;
}
