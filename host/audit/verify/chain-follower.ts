import { auditLimits } from "../../../shared/limits.ts";
import { noHash } from "../log/record-line.ts";
import { altered, beginsBehind, intruding, removed, setAside, unvouched } from "./chain-findings.ts";
import type { FindingList } from "./finding-list.ts";
import { isNext } from "./found-record.ts";
import type { FoundRecord } from "./found-record.ts";
import type { LogFinding } from "./log-verification.ts";
import { SeqRanges } from "./seq-ranges.ts";

/** Numbers that are left out where the chain goes on. */
interface Gap {
  /** `null` at the beginning of the log. */
  readonly before: FoundRecord | null;
  readonly after: FoundRecord;
  /** Lines in between that are no records, and may have been. */
  readonly unreadableLines: number;
  /** `null` when all that it leaves out was found elsewhere. */
  finding: LogFinding | null;
}

export interface FollowerOptions {
  /** Whether the records before the first that is there may be elsewhere. */
  readonly isPartial: boolean;
  /** Called for each record where the chain goes on. */
  readonly onFollowed: (record: FoundRecord) => void;
}

/**
 * Follows the chain from record to record and says what is wrong with it. After a finding it goes on with what is there;
 * when the records behind an intruder fit to those before it, with these. Whatever it makes of a log, it is silent only
 * when each record carries the hash of the one before it and no number is left out.
 */
export class ChainFollower {
  #previous: FoundRecord | null = null;
  #last: FoundRecord | null = null;
  /** A record out of line, which the next one may show to be the right one. */
  #side: { readonly record: FoundRecord; readonly finding: LogFinding } | null = null;
  /** That the last record but one was altered, which is the last one's word. */
  #accusation: LogFinding | null = null;
  #unreadableLines = 0;
  /** The hashes of the latest records, to know one that stands there again. */
  readonly #recent = new Map<number, string>();
  /** Records that are there, but in another place. */
  readonly #strays = new SeqRanges();
  readonly #gaps: Gap[] = [];
  readonly #findings: FindingList;
  readonly #options: FollowerOptions;

  constructor(findings: FindingList, options: FollowerOptions) {
    this.#findings = findings;
    this.#options = options;
  }

  /** Where the chain ends. */
  get last(): FoundRecord | null {
    return this.#last;
  }

  /** A line that is no record: it may stand in the place of one. */
  skipLine(): void {
    this.#unreadableLines++;
  }

  take(record: FoundRecord): void {
    const side = this.#side;
    this.#side = null;
    if (side && this.#last && isNext(side.record, record) && !isNext(this.#last, record)) {
      this.#goBack(this.#last, side.record, side.finding);
    }
    if (this.#last === null) this.#begin(record);
    else if (record.seq > this.#last.seq) this.#goOn(this.#last, record);
    else this.#setAside(this.#last, record);
  }

  #begin(record: FoundRecord): void {
    if (record.seq === 0 && record.prev !== noHash) this.#findings.add(beginsBehind(record));
    if (record.seq > 0 && !this.#options.isPartial) this.#openGap(null, record);
    this.#follow(record);
  }

  #goOn(last: FoundRecord, record: FoundRecord): void {
    const accusation = this.#accusation;
    this.#accusation = null;
    if (record.seq > last.seq + 1) {
      this.#openGap(last, record);
    } else if (record.prev !== last.hash) {
      if (accusation && this.#previous) this.#findings.replace(accusation, unvouched(this.#previous, last));
      this.#accusation = this.#findings.add(altered(last, record));
    }
    this.#previous = last;
    this.#follow(record);
  }

  #setAside(last: FoundRecord, record: FoundRecord): void {
    const isRepeated = this.#recent.get(record.seq) === record.hash;
    const finding = this.#findings.add(setAside(record, last, isRepeated));
    if (!isRepeated) this.#side = { record, finding };
    this.#noteStrays(record.seq, record.seq);
  }

  /** What was taken for the chain's end does not belong there: the record beside it does. */
  #goBack(last: FoundRecord, record: FoundRecord, finding: LogFinding): void {
    const gap = this.#gaps.at(-1);
    if (record.seq === last.seq) {
      this.#findings.replace(finding, intruding(last, last, record));
      if (this.#accusation && this.#previous?.hash === record.prev) this.#findings.replace(this.#accusation, null);
    } else if (gap && gap.after.seq <= last.seq && record.seq > (gap.before?.seq ?? -1)) {
      this.#gaps.pop();
      if (gap.finding) this.#findings.replace(gap.finding, null);
      this.#findings.replace(finding, intruding(gap.after, last, record));
      this.#noteStrays(gap.after.seq, last.seq);
      if (record.seq > (gap.before?.seq ?? -1) + 1) this.#openGap(gap.before, record);
    } else {
      return;
    }
    this.#accusation = null;
    this.#previous = null;
    this.#follow(record);
  }

  #openGap(before: FoundRecord | null, after: FoundRecord): void {
    const gap: Gap = { before, after, unreadableLines: this.#unreadableLines, finding: null };
    const count = this.#countMissing(gap);
    if (count > 0) gap.finding = this.#findings.add(removed(before, after, count));
    // Of a log that is nothing but gaps the oldest are given up: they stay as they were found.
    if (this.#gaps.length === auditLimits.findingsMax) this.#gaps.shift();
    this.#gaps.push(gap);
  }

  #noteStrays(from: number, to: number): void {
    this.#strays.add(from, to);
    for (const gap of this.#gaps) {
      if (gap.finding === null || gap.after.seq <= from || (gap.before?.seq ?? -1) >= to) continue;
      const count = this.#countMissing(gap);
      gap.finding = this.#findings.replace(gap.finding, count > 0 ? removed(gap.before, gap.after, count) : null);
    }
  }

  #countMissing({ before, after, unreadableLines }: Gap): number {
    const from = (before?.seq ?? -1) + 1;
    return after.seq - from - this.#strays.countBetween(from, after.seq - 1) - unreadableLines;
  }

  #follow(record: FoundRecord): void {
    this.#last = record;
    this.#unreadableLines = 0;
    this.#recent.set(record.seq, record.hash);
    if (this.#recent.size > auditLimits.findingsMax) this.#recent.delete(this.#recent.keys().next().value ?? -1);
    this.#options.onFollowed(record);
  }
}
