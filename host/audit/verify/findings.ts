import { auditLimits } from "../../../shared/limits.ts";
import type { ChainHead } from "../audit-log.ts";
import type { ChainPosition } from "../log/read-lines.ts";

/**
 * What is found at one point of a log.
 *
 * - `removed`: records that were there are not
 * - `altered`: a record is not as it was written
 * - `unreadable`: a line is no record at all
 * - `displaced`: a record stands where it does not belong: moved, repeated or added
 * - `torn`: the end of a record is missing
 * - `head`: the log is not what its head, or what was noted elsewhere, says
 */
export type FindingKind = "removed" | "altered" | "unreadable" | "displaced" | "torn" | "head";

export interface LogFinding {
  readonly kind: FindingKind;
  /** The record that it is about, or the next one that is there. `null` when none can be named. */
  readonly seq: number | null;
  /** The file's name, without its folder. `null` when it is about no single file. */
  readonly file: string | null;
  /** From 1; `null` when it is about no single line. */
  readonly line: number | null;
  /** A sentence for a reviewer. Holds nothing of what a record says. */
  readonly text: string;
}

/** What is found at a record or a line of the log; `null` when it is at none. */
export function found(
  kind: FindingKind,
  at: Pick<LogFinding, "seq" | "file" | "line"> | null,
  text: string,
): LogFinding {
  return { kind, seq: at?.seq ?? null, file: at?.file ?? null, line: at?.line ?? null, text };
}

/** What became of checking a log. */
export interface LogVerification {
  /** Whether every record is there, in its place, and as it was written. */
  readonly isIntact: boolean;
  readonly files: number;
  /** Lines that are records, in whatever place. */
  readonly records: number;
  readonly bytes: number;
  /** The number of the first record; `null` in a log without any. */
  readonly firstSeq: number | null;
  /** Where the chain ends: to be noted elsewhere, for who can write to all of a log can write all of it anew. */
  readonly head: ChainHead | null;
  /** Whether anything but the log itself says where it ends: its head file, or what was noted elsewhere. */
  readonly isEndKnown: boolean;
  /** In the order in which the log was read; at most 1,000. */
  readonly findings: readonly LogFinding[];
  readonly findingsNotShown: number;
  /** What is no sign of a change, yet worth knowing: ends that a killed process left, records that were lost. */
  readonly notes: readonly string[];
}

const { findingsMax, notesMax } = auditLimits;

/** Findings and notes in the order of the log: the first of each are kept, the others counted. */
export class FindingList {
  #kept = new Map<number, LogFinding>();
  #numbers = 0;
  #notKept = 0;
  readonly #notes: string[] = [];
  #notesNotKept = 0;

  /** A number for what may be found at this point of the log when more of it was read. */
  reserve(): number {
    return this.#numbers++;
  }

  /** Returns the finding's number, for `replace`. */
  add(finding: LogFinding, number: number = this.reserve()): number {
    this.#kept.set(number, finding);
    if (this.#kept.size > 2 * findingsMax) this.#keepFirst();
    return number;
  }

  /** A later line explains it better; `null`: there was nothing to find. */
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

// What is found in a chain, in the words of a reviewer. Nothing of what a record says is in them.

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
