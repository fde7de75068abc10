import { safeParse } from "../../../shared/zod.ts";
import { auditRecordSchema } from "../audit-record.ts";
import type { AuditRecord } from "../audit-record.ts";
import { parseLine, positionOf, recordBytesMin } from "../log/chain-position.ts";
import type { LogLine } from "../log/read-lines.ts";
import type { Chain } from "./chain.ts";
import type { FindingList } from "./finding-list.ts";

/** Takes a line of a file into the chain, with what can be found in it alone. Returns the record, if it is a right one. */
export function takeLine(line: LogLine, file: string, chain: Chain, findings: FindingList): AuditRecord | null {
  const at = { file, line: line.number };
  if (line.isTorn) {
    const text = `at the end are ${line.length} bytes of a record: it was cut, not finished, or is just being written`;
    findings.add({ kind: "torn", seq: null, ...at, text });
    return null;
  }
  const json = line.bytes === null ? undefined : parseLine(line.bytes);
  const position = positionOf(json);
  if (position === null) {
    chain.skipLine();
    const text = `this line is no record: ${whyUnreadable(line, json)}`;
    findings.add({ kind: "unreadable", seq: null, ...at, text });
    return null;
  }
  const { data: record = null } = safeParse(auditRecordSchema, json);
  chain.take({ ...position, ...at, hash: line.hash(), missing: record?.kind === "opened" ? record.missing : 0 });
  if (record === null) {
    const text = `record ${position.seq} has not the form of a record: it was altered, or another version wrote it`;
    findings.add({ kind: "unreadable", seq: position.seq, ...at, text });
  } else {
    noteRecord(record, at, findings);
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
function noteRecord(record: AuditRecord, at: { file: string; line: number }, findings: FindingList): void {
  const { seq } = record;
  if (record.kind === "lost") {
    findings.note(`before record ${seq}, ${record.records} records could not be written while calls went on`);
  }
  if (record.kind !== "opened") return;
  if (record.tornBytes > 0) {
    findings.note(`before record ${seq}, ${record.tornBytes} bytes of an unfinished record were cut off`);
  }
  if (record.head === "new" || record.head === "agrees") return;
  findings.add({ kind: "head", seq, ...at, text: `when record ${seq} was written, ${headTexts[record.head]}` });
}
