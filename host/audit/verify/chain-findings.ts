/** What is found in a chain, in the words of a reviewer. Nothing of what a record says is in them. */
import type { ChainPosition } from "../log/read-lines.ts";
import { found } from "./findings.ts";
import type { LogFinding } from "./findings.ts";

/** A record where it was found. */
export interface FoundRecord extends ChainPosition {
  readonly hash: string;
  /** The file's name, without its folder. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** How many records before it were missing when it was written, as it says itself. */
  readonly missing: number;
}

/** `before` is `null` at the log's beginning. */
export function removed(before: FoundRecord | null, after: FoundRecord, count: number): LogFinding {
  const where = before === null ? `before record ${after.seq}` : `between record ${before.seq} and record ${after.seq}`;
  const what = count === 1 ? "one record was removed" : `${count} records were removed`;
  const known = after.missing > 0 ? `; so it was already when record ${after.seq} was written` : "";
  const isBetweenFiles = before === null || before.file !== after.file;
  const file = isBetweenFiles && count > 1 ? "; a whole file may be missing" : "";
  return found("removed", after, `${where} ${what}${known}${file}`);
}

export function altered(record: FoundRecord, by: FoundRecord): LogFinding {
  const text = `record ${record.seq} is not as it was written: the hash that record ${by.seq} carries is another`;
  return found("altered", record, text);
}

/** Who carries the hash is not to be trusted either. */
export function unvouched(record: FoundRecord, by: FoundRecord): LogFinding {
  const text = `record ${record.seq} may not be as it was written: record ${by.seq}, which carries its hash, is altered`;
  return found("altered", record, text);
}

export function beginsBehind(record: FoundRecord): LogFinding {
  return found("altered", record, "record 0 is not as it was written: it carries the hash of another");
}

/** A record that stands behind one that is not written before it. */
export function outOfLine(record: FoundRecord, last: FoundRecord, isRepeated: boolean): LogFinding {
  const { seq } = record;
  if (isRepeated) return found("displaced", record, `record ${seq} stands here again`);
  const text =
    seq === last.seq
      ? `there are two records ${seq}: one of them was added`
      : `record ${seq} stands behind record ${last.seq}: it was moved here, or added`;
  return found("displaced", record, text);
}

/** Records that stand before one that was written earlier, or that nobody wrote. */
export function intruding(first: FoundRecord, last: FoundRecord, before: FoundRecord): LogFinding {
  const what =
    first.seq === last.seq
      ? `record ${first.seq} stands before record ${before.seq}: it was`
      : `records ${first.seq} to ${last.seq} stand before record ${before.seq}: they were`;
  return found("displaced", first, `${what} moved here, or added`);
}
