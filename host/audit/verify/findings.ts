import { auditLimits } from "../../../shared/limits.ts";
import type { ChainHead } from "../audit-log.ts";
import type { ChainPosition } from "../log/read-lines.ts";

/**
 * The kind of a finding.
 *
 * - `removed`: records are missing
 * - `altered`: a record was changed
 * - `unreadable`: a line is not a record
 * - `displaced`: a record is in the wrong place: moved, repeated or added
 * - `torn`: the end of a record is missing
 * - `head`: the log does not match its head, or a head that was noted elsewhere
 */
export type FindingKind = "removed" | "altered" | "unreadable" | "displaced" | "torn" | "head";

export interface LogFinding {
  readonly kind: FindingKind;
  /** The number of the affected record, or of the next one in the log. `null` when there is none. */
  readonly seq: number | null;
  /** The file's name, without its folder. `null` when the finding is not about a single file. */
  readonly file: string | null;
  /** From 1; `null` when the finding is not about a single line. */
  readonly line: number | null;
  /** A sentence for a reviewer, without any of a record's content. */
  readonly text: string;
}

/** Creates a finding at a record or a line; `at` is `null` when it is at neither. */
export function found(
  kind: FindingKind,
  at: Pick<LogFinding, "seq" | "file" | "line"> | null,
  text: string,
): LogFinding {
  return { kind, seq: at?.seq ?? null, file: at?.file ?? null, line: at?.line ?? null, text };
}

/** The result of checking a log. */
export interface LogVerification {
  /** Whether every record is present, in its place, and unchanged. */
  readonly isIntact: boolean;
  readonly files: number;
  /** How many lines are records, in any place. */
  readonly records: number;
  readonly bytes: number;
  /** The number of the first record; `null` in an empty log. */
  readonly firstSeq: number | null;
  /** Where the chain ends. Note it elsewhere: whoever can write to the whole log can also rewrite the whole log. */
  readonly head: ChainHead | null;
  /** Whether the log's end is known from its head file or from a head that was noted elsewhere. */
  readonly isEndKnown: boolean;
  /** In the order of the log; at most 1,000. */
  readonly findings: readonly LogFinding[];
  readonly findingsNotShown: number;
  /** Events that are not signs of a change, such as the end that a killed process left, or lost records. */
  readonly notes: readonly string[];
}

const { findingsMax, notesMax } = auditLimits;

/** Findings and notes in the order of the log. Keeps the first of each and counts the others. */
export class FindingList {
  #kept = new Map<number, LogFinding>();
  #numbers = 0;
  #notKept = 0;
  readonly #notes: string[] = [];
  #notesNotKept = 0;

  /** A number for a finding at this point of the log that can be added later. */
  reserve(): number {
    return this.#numbers++;
  }

  /** Returns the finding's number, for `replace`. */
  add(finding: LogFinding, number: number = this.reserve()): number {
    this.#kept.set(number, finding);
    if (this.#kept.size > 2 * findingsMax) this.#keepFirst();
    return number;
  }

  /** Replaces a finding when a later line explains it better. `null` removes it. */
  replace(number: number, by: LogFinding | null): void {
    if (by === null && !this.#kept.delete(number)) this.#notKept--;
    if (by !== null && this.#kept.has(number)) this.#kept.set(number, by);
  }

  note(text: string): void {
    if (this.#notes.length < notesMax) this.#notes.push(text);
    else this.#notesNotKept++;
  }

  result(): Pick<LogVerification, "isIntact" | "findings" | "findingsNotShown" | "notes"> {
    this.#keepFirst();
    const more = this.#notesNotKept > 0 ? [`${this.#notesNotKept} more notes are not shown`] : [];
    return {
      isIntact: this.#kept.size === 0 && this.#notKept === 0,
      findings: [...this.#kept.values()],
      findingsNotShown: this.#notKept,
      notes: [...this.#notes, ...more],
    };
  }

  #keepFirst(): void {
    const inOrder = [...this.#kept].toSorted(([a], [b]) => a - b);
    this.#kept = new Map(inOrder.slice(0, findingsMax));
    this.#notKept += inOrder.length - this.#kept.size;
  }
}

// The findings of a chain, as sentences for a reviewer. They contain nothing of a record's content.

/** A record's position in the chain and in the files. */
export interface FoundRecord extends ChainPosition {
  readonly hash: string;
  /** The file's name, without its folder. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The record's own count of records that were missing before it when it was written. */
  readonly missing: number;
}

/** `before` is `null` at the log's beginning. */
export function removed(before: FoundRecord | null, after: FoundRecord, count: number): LogFinding {
  const where = before === null ? `before record ${after.seq}` : `between records ${before.seq} and ${after.seq}`;
  const what = count === 1 ? "one record was removed" : `${count} records were removed`;
  const known = after.missing > 0 ? `; the gap was known when record ${after.seq} was written` : "";
  const isBetweenFiles = before === null || before.file !== after.file;
  const file = isBetweenFiles && count > 1 ? "; a whole file may be missing" : "";
  return found("removed", after, `${where}, ${what}${known}${file}`);
}

export function altered(record: FoundRecord, by: FoundRecord): LogFinding {
  const text = `record ${record.seq} was altered: its hash differs from the one in record ${by.seq}`;
  return found("altered", record, text);
}

/** The record that carries this one's hash cannot be trusted. */
export function unvouched(record: FoundRecord, by: FoundRecord): LogFinding {
  const text = `record ${record.seq} may be altered: record ${by.seq}, which carries its hash, was altered`;
  return found("altered", record, text);
}

export function beginsBehind(record: FoundRecord): LogFinding {
  return found("altered", record, "record 0 was altered: it carries the hash of another record");
}

/** A record whose number is not higher than that of the record before it. */
export function outOfLine(record: FoundRecord, last: FoundRecord, isRepeated: boolean): LogFinding {
  const { seq } = record;
  if (isRepeated) return found("displaced", record, `record ${seq} is repeated here`);
  const text =
    seq === last.seq
      ? `there are two records ${seq}: one of them was added`
      : `record ${seq} comes after record ${last.seq}: it was moved here, or added`;
  return found("displaced", record, text);
}

/** Records that come before an earlier record, or that the runtime did not write. */
export function intruding(first: FoundRecord, last: FoundRecord, before: FoundRecord): LogFinding {
  const what =
    first.seq === last.seq
      ? `record ${first.seq} comes before record ${before.seq}: it was`
      : `records ${first.seq} to ${last.seq} come before record ${before.seq}: they were`;
  return found("displaced", first, `${what} moved here, or added`);
}
