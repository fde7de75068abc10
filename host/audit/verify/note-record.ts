import type { AuditRecord } from "../audit-record.ts";
import type { FindingList } from "./finding-list.ts";

/** What a runtime has found when it opened the log, told again to who reads it. */
const headTexts = {
  behind: "the log's head named an earlier record: the machine had stopped, or records were added",
  differs: "the last record was not the one that the log's head named",
  lost: "the log's head was not there: whether records were missing cannot be told",
} as const;

/** What a record itself says of the log. */
export function noteRecord(
  record: AuditRecord,
  at: { readonly file: string; readonly line: number },
  findings: FindingList,
): void {
  const { seq } = record;
  if (record.kind === "lost") {
    findings.note(`before record ${seq}, ${record.records} records could not be written while calls went on`);
  }
  if (record.kind !== "opened") return;
  if (record.tornBytes > 0)
    findings.note(`before record ${seq}, ${record.tornBytes} bytes of an unfinished record were cut off`);
  if (record.head === "new" || record.head === "agrees") return;
  findings.add({ kind: "head", seq, ...at, text: `when record ${seq} was written, ${headTexts[record.head]}` });
}
