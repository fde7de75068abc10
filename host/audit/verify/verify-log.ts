import { safeParse } from "../../../shared/zod.ts";
import type { ChainHead } from "../audit-log.ts";
import { auditRecordSchema } from "../audit-record.ts";
import type { AuditRecord } from "../audit-record.ts";
import type { HeadText } from "../log/log-end.ts";
import { LogFiles } from "../log/log-files.ts";
import { parseLine, positionOf, readLines, recordBytesMin } from "../log/read-lines.ts";
import type { LogLine } from "../log/read-lines.ts";
import { Chain } from "./chain.ts";
import type { FindingList, FoundRecord, LogVerification } from "./findings.ts";
import { found } from "./findings.ts";

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
  const named = [files.head, noted].flatMap((each) => (typeof each === "object" && each !== null ? [each.seq] : []));
  const chain = new Chain({ isPartial, named });
  let bytes = 0;
  for (const part of files.parts) {
    using file = part.open();
    for (const line of readLines(file)) {
      const record = takeLine(line, part.name, chain);
      if (record) onRecord(record);
      bytes += line.length + (line.isTorn ? 0 : 1);
    }
  }
  chain.end();
  const isEndKnown = checkEnd(chain, { isPartial, head: files.head, headNow: files.headNow(), noted });
  return {
    ...chain.findings.result(),
    files: files.parts.length,
    records: chain.records,
    bytes,
    firstSeq: chain.first?.seq ?? null,
    head: chain.last && { seq: chain.last.seq, hash: chain.last.hash },
    isEndKnown,
  };
}

/** Takes a line of a file into the chain, with what can be found in it alone. Returns the record, if it is a right one. */
function takeLine(line: LogLine, file: string, chain: Chain): AuditRecord | null {
  const { findings } = chain;
  const at = { seq: null, file, line: line.number };
  if (line.isTorn) {
    const text = `at the end are ${line.length} bytes of a record: it was cut, not finished, or is just being written`;
    findings.add(found("torn", at, text));
    return null;
  }
  const json = line.bytes === null ? undefined : parseLine(line.bytes);
  const position = positionOf(json);
  if (position === null) {
    chain.skipLine();
    const text = `this line is no record: ${whyUnreadable(line, json)}`;
    findings.add(found("unreadable", at, text));
    return null;
  }
  const { data: record = null } = safeParse(auditRecordSchema, json);
  const taken = { ...at, ...position, hash: line.hash(), missing: record?.kind === "opened" ? record.missing : 0 };
  chain.take(taken);
  if (record === null) {
    const text = `record ${position.seq} has not the form of a record: it was altered, or another version wrote it`;
    findings.add(found("unreadable", taken, text));
  } else {
    noteRecord(record, taken, findings);
  }
  return record;
}

function whyUnreadable({ bytes, length }: LogLine, json: unknown): string {
  if (bytes === null) return `it is ${length} bytes long`;
  if (length === 0) return "it is empty";
  if (length < recordBytesMin) return "it is too short to be one";
  return json === undefined ? "it is not JSON" : "it has no place in the chain";
}

/** What a runtime has found when it opened the log, told again to who reads it. */
const headTexts = {
  behind: "the log's head named an earlier record: the machine had stopped, or records were added",
  differs: "the last record was not the one that the log's head named",
  lost: "the log's head was not there: whether records were missing cannot be told",
} as const;

/** What a record itself says of the log. */
function noteRecord(record: AuditRecord, at: FoundRecord, findings: FindingList): void {
  const { seq } = record;
  if (record.kind === "lost") {
    findings.note(`before record ${seq}, ${record.records} records could not be written while calls went on`);
  }
  if (record.kind !== "opened") return;
  if (record.tornBytes > 0) {
    findings.note(`before record ${seq}, ${record.tornBytes} bytes of an unfinished record were cut off`);
  }
  if (record.head === "new" || record.head === "agrees") return;
  findings.add(found("head", at, `when record ${seq} was written, ${headTexts[record.head]}`));
}

/** What is said of the log's end, beside the log. */
interface EndWitnesses {
  /** Part of the log is elsewhere, and its head may be too. */
  readonly isPartial: boolean;
  /** What the head said before the log was read; `null` when there was none. */
  readonly head: HeadText | null;
  /** The same when all was read. */
  readonly headNow: HeadText | null;
  /** A record's number and hash that somebody has noted elsewhere. */
  readonly noted: ChainHead | null;
}

/** Compares where the chain leads with what others say of it. Returns whether anything but the log says where it ends. */
function checkEnd(chain: Chain, { isPartial, head, headNow, noted }: EndWitnesses): boolean {
  const { last, findings } = chain;
  if (noted !== null) compare(chain, noted, "the place that was noted");
  if (head === "unreadable") findings.add(found("head", last, "the log's head cannot be read"));
  if (head === null && noted === null && !isPartial) {
    findings.add(found("head", last, "no head lies beside the log: records at its end may be missing"));
  }
  if (head === null || head === "unreadable") return noted !== null;
  if (head !== "empty") compare(chain, head, "the log's head");
  if (last && headNow !== null && headNow !== "unreadable") {
    checkBehind(last, headNow === "empty" ? -1 : headNow.seq, findings);
  }
  return true;
}

function compare(chain: Chain, { seq, hash }: ChainHead, who: string): void {
  const { first, last, findings } = chain;
  const nowhere = { seq, file: null, line: null };
  if (last === null || seq > last.seq) {
    const where = last === null ? "the log is empty" : `the log ends with record ${last.seq}`;
    const text = `${where}, and ${who} is record ${seq}: records were removed from the end`;
    findings.add(found("removed", last, text));
  } else if (first && seq < first.seq) {
    const text = `the log begins with record ${first.seq}, and ${who} is record ${seq}: it cannot be compared`;
    findings.add(found("head", first, text));
  } else if (chain.hashOf(seq) === undefined) {
    findings.add(found("removed", nowhere, `record ${seq} is not there, and ${who} names it`));
  } else if (chain.hashOf(seq) !== hash) {
    const text = `record ${seq} is not as it was written: the hash that ${who} carries is another`;
    findings.add(found("altered", nowhere, text));
  }
}

/** A runtime writes the record first and the head right behind it. */
function checkBehind(last: FoundRecord, headSeq: number, findings: FindingList): void {
  const behind = last.seq - headSeq;
  if (behind === 1) {
    findings.note(`record ${last.seq} stands behind the log's head: it was written last, before a kill, or added`);
  } else if (behind > 1) {
    const text = `the last ${behind} records stand behind the log's head: the machine has stopped, or they were added`;
    findings.add(found("head", last, text));
  }
}
