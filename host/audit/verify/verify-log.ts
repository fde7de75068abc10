import { auditLimits } from "../../../shared/limits.ts";
import { safeParse } from "../../../shared/zod.ts";
import { firstBrokenLink, hashOf } from "../../log-file/chain.ts";
import type { BrokenLink, ChainHead, Link, NoLink } from "../../log-file/chain.ts";
import type { Line } from "../../log-file/lines.ts";
import type { HeadText } from "../../log-file/names-and-head.ts";
import { atOnce } from "../../values/turns.ts";
import { auditRecordSchema } from "../audit-record.ts";
import type { AuditRecord } from "../audit-record.ts";
import { failureOfLog } from "../log/log-place.ts";
import { linesOf, parseLine, positionOf, recordBytesMin } from "../log/record-line.ts";
import { LogFiles } from "./log-files.ts";

/** Where a log is broken first, and what that means. In an empty log, it is nowhere. */
export interface BrokenLog {
  /** The number of the record there; `null` when there is none. */
  readonly seq: number | null;
  /** The file's name, without its folder. */
  readonly file: string | null;
  /** From 1. */
  readonly line: number | null;
  /** A sentence for a reviewer, without any of a record's content. */
  readonly text: string;
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
  /** Where the log ends. Note it elsewhere: whoever can write to the whole log can also rewrite the whole log. */
  readonly head: ChainHead | null;
  /** Whether the log's end is known from its head file or from a head that was noted elsewhere. */
  readonly isEndKnown: boolean;
  /** `null` in an intact log. Nothing is said about what is wrong after it. */
  readonly broken: BrokenLog | null;
  /** Events that are not signs of a change, such as the end that a killed process left, or lost records. */
  readonly notes: readonly string[];
}

export interface VerifyOptions {
  /** Whether part of the log is elsewhere: it may begin later than with record 0, and its head may be missing. */
  readonly isPartial?: boolean;
  /** A record's number and hash, noted earlier in a place that writers of the log cannot change. */
  readonly noted?: ChainHead;
  /** Receives every record in the order of the log, also after a broken link. */
  readonly onRecord?: (record: AuditRecord) => void;
}

/**
 * Reads an audit log of any size, and says where it is broken first: where a record was removed, altered, added, repeated
 * or moved. Also reads the head and the full files beside each named file. A runtime can write the log meanwhile.
 *
 * Whoever can write to the log and its head can rewrite both from any record on. Only a head that was noted elsewhere
 * reveals that (`noted`).
 *
 * Throws `STORAGE_FAILED`, `STORAGE_BUSY` or `STORAGE_UNSAFE` when a file cannot be read.
 *
 * @example
 * const { isIntact, broken, head } = verifyLog(["log/audit.jsonl"]);
 */
export function verifyLog(paths: readonly string[], options: VerifyOptions = {}): LogVerification {
  try {
    using files = new LogFiles(paths);
    return new Reading(files, options).result();
  } catch (error) {
    throw failureOfLog(error, "read");
  }
}

type Place = Readonly<{ file: string; line: number }>;
type Step = Link<Place> | NoLink<Place>;

/** What a runtime found when it opened the log. */
const headTexts = {
  behind: "the log's head named an earlier record: the machine had stopped, or records were added",
  differs: "the log's head did not match the record that it named",
  lost: "the log's head could not be read: it is unknown whether records were missing",
} as const;

class Reading {
  readonly #files: LogFiles;
  readonly #options: VerifyOptions;
  /** What is known about the log's end from other places than its records. */
  readonly #heads = new Map<string, ChainHead>();
  /** The records that these heads name. */
  readonly #named = new Map<number, Link<Place>>();
  #first: Link<Place> | null = null;
  #last: Link<Place> | null = null;
  #records = 0;
  #bytes = 0;
  /** The first record before which others were missing already when it was written. */
  #firstKnownGap: number | null = null;
  readonly #notes: string[] = [];
  #notesNotShown = 0;

  constructor(files: LogFiles, options: VerifyOptions) {
    this.#files = files;
    this.#options = options;
    if (options.noted) this.#heads.set("the noted head", options.noted);
    if (files.head !== null && typeof files.head === "object") this.#heads.set("the log's head", files.head);
  }

  result(): LogVerification {
    const { isPartial = false, noted } = this.#options;
    const { head, parts } = this.#files;
    const inChain = atOnce(firstBrokenLink(this.#steps(), { first: 0, from: isPartial ? null : 0 }));
    const broken = inChain ? this.#shown(inChain) : this.#brokenEnd();
    const more = this.#notesNotShown > 0 ? [`${this.#notesNotShown} more notes are not shown`] : [];
    return {
      isIntact: broken === null,
      files: parts.length,
      records: this.#records,
      bytes: this.#bytes,
      firstSeq: this.#first?.seq ?? null,
      head: this.#last && { seq: this.#last.seq, hash: this.#last.hash },
      isEndKnown: noted !== undefined || (head !== null && head !== "unreadable"),
      broken,
      notes: [...this.#notes, ...more],
    };
  }

  /** Every line of the log, as the chain has it. */
  *#steps(): Generator<Step> {
    for (const part of this.#files.parts) {
      using file = part.open();
      for (const line of linesOf(file)) yield* this.#stepsOf(line, { file: part.name, line: line.number });
    }
  }

  *#stepsOf(line: Line, where: Place): Generator<Step> {
    this.#bytes += line.length + (line.isTorn ? 0 : 1);
    const json = parseLine(line);
    const position = positionOf(json);
    if (position === null) return yield { seq: null, where, reason: whyUnreadable(line, json) };
    const link = { ...position, hash: hashOf(line.bytes), where };
    this.#records++;
    this.#first ??= link;
    this.#last = link;
    for (const { seq } of this.#heads.values()) if (seq === link.seq) this.#named.set(seq, link);
    yield link;
    const { data: record } = safeParse(auditRecordSchema, json);
    const reason = record ? this.#noteRecord(record) : `record ${link.seq} ${unfit}`;
    if (reason !== null) yield { seq: link.seq, where, reason };
    if (record) this.#options.onRecord?.(record);
  }

  /** Notes what a record says about the log itself. Returns why the log is broken at it, if it says so. */
  #noteRecord(record: AuditRecord): string | null {
    const { seq } = record;
    if (record.kind === "lost")
      this.#note(`before record ${seq}, ${record.records} records could not be written while calls continued`);
    if (record.kind !== "opened") return null;
    if (record.missing > 0) this.#firstKnownGap ??= seq;
    if (record.tornBytes > 0)
      this.#note(`before record ${seq}, ${record.tornBytes} bytes of an unfinished record were cut off`);
    if (record.head === "new" || record.head === "agrees") return null;
    return `when record ${seq} was written, ${headTexts[record.head]}`;
  }

  #note(text: string): void {
    if (this.#notes.length < auditLimits.notesMax) this.#notes.push(text);
    else this.#notesNotShown++;
  }

  #shown({ kind, seq, where, text }: BrokenLink<Place>): BrokenLog {
    const known = kind === "missing" && seq === this.#firstKnownGap;
    const gap = known ? `; the gap was known when record ${seq} was written` : "";
    const file = kind === "missing" && where.line === 1 ? "; a whole file may be missing" : "";
    return { seq, ...where, text: `${text}${gap}${file}` };
  }

  /** What is wrong with the end of a whole chain. */
  #brokenEnd(): BrokenLog | null {
    for (const [who, head] of this.#heads) {
      const broken = this.#compare(head, who);
      if (broken) return broken;
    }
    const { head } = this.#files;
    if (head === "unreadable") return brokenAt(this.#last, "the log's head cannot be read");
    if (head !== null) return this.#compareEnd(this.#files.headNow());
    if (this.#options.noted || this.#options.isPartial) return null;
    return brokenAt(this.#last, "the log has no head: records at its end may be missing");
  }

  #compare({ seq, hash }: ChainHead, who: string): BrokenLog | null {
    const [first, last] = [this.#first, this.#last];
    if (first === null || last === null || seq > last.seq) {
      const where = last === null ? "the log is empty" : `the log ends with record ${last.seq}`;
      return brokenAt(last, `${where}, but ${who} names record ${seq}: records were removed from the end`);
    }
    const begins = `the log begins with record ${first.seq}, but ${who} names record ${seq}`;
    if (seq < first.seq) return brokenAt(first, `${begins}: they cannot be compared`);
    const named = this.#named.get(seq);
    if (named?.hash === hash) return null;
    return brokenAt(named ?? last, `record ${seq} was altered: its hash differs from the one in ${who}`);
  }

  /** A runtime writes the record first and the head directly after it. */
  #compareEnd(head: HeadText | null): BrokenLog | null {
    const last = this.#last;
    if (last === null || head === null || head === "unreadable") return null;
    const behind = last.seq - (head === "empty" ? -1 : head.seq);
    const after = "come after the log's head: the machine stopped, or they were added";
    if (behind > 1) return brokenAt(last, `the last ${behind} records ${after}`);
    if (behind === 1)
      this.#note(`record ${last.seq} comes after the log's head: it was written last, before a kill, or added`);
    return null;
  }
}

function brokenAt(link: Link<Place> | null, text: string): BrokenLog {
  return { seq: link?.seq ?? null, file: link?.where.file ?? null, line: link?.where.line ?? null, text };
}

const unfit = "does not match the record format: it was altered, or another version wrote it";

function whyUnreadable({ bytes, length, isTorn }: Line, json: unknown): string {
  if (isTorn)
    return `the file ends with ${length} bytes of a record: it was cut, not finished, or is just being written`;
  if (bytes === null) return `this line is not a record: it is ${length} bytes long`;
  if (length < recordBytesMin)
    return `this line is not a record: it is ${length === 0 ? "empty" : "too short to be one"}`;
  return `this line is not a record: ${json === undefined ? "it is not JSON" : "it has no place in the chain"}`;
}
