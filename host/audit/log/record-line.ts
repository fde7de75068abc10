import { auditLimits } from "../../../shared/limits.ts";
import { safeParse } from "../../../shared/zod.ts";
import { hashOf, noHash } from "../../log-file/chain.ts";
import type { ChainHead } from "../../log-file/chain.ts";
import { ToolError } from "../../values/tool-error.ts";
import { auditRecordSchema } from "../audit-record.ts";
import type { AuditEntry } from "../audit-record.ts";

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
  const { recordBytesMax } = auditLimits;
  if (bytes.length > recordBytesMax) throw unfit(`it is ${bytes.length} bytes, at most ${recordBytesMax} allowed`);
  return { bytes, head: { seq, hash: hashOf(bytes.subarray(0, -1)) } };
}

function unfit(reason: string, cause?: unknown): ToolError {
  return new ToolError("INTERNAL", `Cannot write an audit record: ${reason}`, { cause });
}
