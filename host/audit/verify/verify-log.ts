import type { ChainHead } from "../audit-log.ts";
import type { AuditRecord } from "../audit-record.ts";
import { LogFiles } from "../log/log-files.ts";
import { readLines } from "../log/read-lines.ts";
import { Chain } from "./chain.ts";
import { checkEnd, namedBy } from "./check-end.ts";
import { FindingList } from "./finding-list.ts";
import type { LogVerification } from "./log-verification.ts";
import { takeLine } from "./take-line.ts";

export interface VerifyOptions {
  /** Whether the log may begin later than with record 0, and end earlier than anybody says: part of it is elsewhere. */
  readonly isPartial?: boolean;
  /** A record's number and hash, noted earlier where nobody can write to who can write to the log. */
  readonly noted?: ChainHead;
  /** Receives every record, in the order of the log, also of a log with findings. */
  readonly onRecord?: (record: AuditRecord) => void;
}

/**
 * Reads an audit log, of whatever size, and finds every record that was removed, altered, added, repeated or moved. Beside
 * a file that is named it finds its head and the files that were full before it. It may be written to meanwhile.
 *
 * Who can write to the log and to its head can write both anew, from any record on; only what was noted elsewhere shows
 * that (`noted`).
 *
 * Throws `STORAGE_FAILED` or `STORAGE_UNSAFE` when a file cannot be read.
 *
 * @example
 * const { isIntact, head } = verifyLog(["log/audit.jsonl"]);
 */
export function verifyLog(paths: readonly string[], options: VerifyOptions = {}): LogVerification {
  const { isPartial = false, noted = null, onRecord = () => {} } = options;
  using files = new LogFiles(paths);
  const findings = new FindingList();
  const chain = new Chain(findings, { isPartial, named: namedBy([files.head, noted]) });
  let bytes = 0;
  for (const part of files.parts) {
    using file = part.open();
    for (const line of readLines(file)) {
      const record = takeLine(line, part.name, chain, findings);
      if (record) onRecord(record);
      bytes += line.length + (line.isTorn ? 0 : 1);
    }
  }
  chain.end();
  const isEndKnown = checkEnd(chain, findings, { isPartial, head: files.head, headNow: files.headNow(), noted });
  return {
    ...findings.result(),
    files: files.parts.length,
    records: chain.records,
    bytes,
    firstSeq: chain.first?.seq ?? null,
    head: chain.last && { seq: chain.last.seq, hash: chain.last.hash },
    isEndKnown,
  };
}
