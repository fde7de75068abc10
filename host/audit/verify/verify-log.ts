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
  /** Whether part of the log is elsewhere: it may begin later than with record 0, and its head may be missing. */
  readonly isPartial?: boolean;
  /** A record's number and hash, noted earlier in a place that writers of the log cannot change. */
  readonly noted?: ChainHead;
  /** Receives every record in the order of the log, even if there are findings. */
  readonly onRecord?: (record: AuditRecord) => void;
}

/**
 * Reads an audit log of any size and finds every record that was removed, altered, added, repeated or moved. Also reads
 * the head and the full files beside each named file. A runtime can write the log meanwhile.
 *
 * Whoever can write to the log and its head can rewrite both from any record on. Only a head that was noted elsewhere
 * reveals that (`noted`).
 *
 * Throws `STORAGE_FAILED`, `STORAGE_BUSY` or `STORAGE_UNSAFE` when a file cannot be read.
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

/** Adds a line to the chain, and what is wrong with the line to the findings. Returns the record if it is valid. */
function takeLine(line: LogLine, file: string, chain: Chain): AuditRecord | null {
  const { findings } = chain;
  const at = { seq: null, file, line: line.number };
  if (line.isTorn) {
    const text = `the file ends with ${line.length} bytes of a record: it was cut, not finished, or is just being written`;
    findings.add(found("torn", at, text));
    return null;
  }
  const json = line.bytes === null ? undefined : parseLine(line.bytes);
  const position = positionOf(json);
  if (position === null) {
    chain.skipLine();
    const text = `this line is not a record: ${whyUnreadable(line, json)}`;
    findings.add(found("unreadable", at, text));
    return null;
  }
  const { data: record = null } = safeParse(auditRecordSchema, json);
  const taken = { ...at, ...position, hash: line.hash(), missing: record?.kind === "opened" ? record.missing : 0 };
  chain.take(taken);
  if (record === null) {
    const text = `record ${position.seq} does not match the record format: it was altered, or another version wrote it`;
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

/** What a runtime found when it opened the log. */
const headTexts = {
  behind: "the log's head named an earlier record: the machine had stopped, or records were added",
  differs: "the log's head did not match the record that it named",
  lost: "the log's head could not be read: it is unknown whether records were missing",
} as const;

/** Adds what a record says about the log itself. */
function noteRecord(record: AuditRecord, at: FoundRecord, findings: FindingList): void {
  const { seq } = record;
  if (record.kind === "lost") {
    findings.note(`before record ${seq}, ${record.records} records could not be written while calls continued`);
  }
  if (record.kind !== "opened") return;
  if (record.tornBytes > 0) {
    findings.note(`before record ${seq}, ${record.tornBytes} bytes of an unfinished record were cut off`);
  }
  if (record.head === "new" || record.head === "agrees") return;
  findings.add(found("head", at, `when record ${seq} was written, ${headTexts[record.head]}`));
}

/** What is known about the log's end from other places than the log. */
interface EndWitnesses {
  /** Part of the log is elsewhere; its head can be elsewhere too. */
  readonly isPartial: boolean;
  /** The head before the log was read; `null` when there was none. */
  readonly head: HeadText | null;
  /** The head after the log was read. */
  readonly headNow: HeadText | null;
  readonly noted: ChainHead | null;
}

/** Compares the chain's end with the heads. Returns whether the end is known from anything but the log itself. */
function checkEnd(chain: Chain, { isPartial, head, headNow, noted }: EndWitnesses): boolean {
  const { last, findings } = chain;
  if (noted !== null) compare(chain, noted, "the noted head");
  if (head === "unreadable") findings.add(found("head", last, "the log's head cannot be read"));
  if (head === null && noted === null && !isPartial) {
    findings.add(found("head", last, "the log has no head: records at its end may be missing"));
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
    const text = `${where}, but ${who} names record ${seq}: records were removed from the end`;
    findings.add(found("removed", last, text));
  } else if (first && seq < first.seq) {
    const text = `the log begins with record ${first.seq}, but ${who} names record ${seq}: they cannot be compared`;
    findings.add(found("head", first, text));
  } else if (chain.hashOf(seq) === undefined) {
    findings.add(found("removed", nowhere, `record ${seq} is missing, but ${who} names it`));
  } else if (chain.hashOf(seq) !== hash) {
    const text = `record ${seq} was altered: its hash differs from the one in ${who}`;
    findings.add(found("altered", nowhere, text));
  }
}

/** A runtime writes the record first and the head directly after it. */
function checkBehind(last: FoundRecord, headSeq: number, findings: FindingList): void {
  const behind = last.seq - headSeq;
  if (behind === 1) {
    findings.note(`record ${last.seq} comes after the log's head: it was written last, before a kill, or added`);
  } else if (behind > 1) {
    const text = `the last ${behind} records come after the log's head: the machine stopped, or they were added`;
    findings.add(found("head", last, text));
  }
}
