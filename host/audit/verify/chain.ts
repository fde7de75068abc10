import { auditLimits } from "../../../shared/limits.ts";
import { noHash } from "../log/record-line.ts";
import { altered, beginsBehind, FindingList, intruding, outOfLine, removed, unvouched } from "./findings.ts";
import type { FoundRecord } from "./findings.ts";

/** A record, and the number of the finding about it. */
interface Suspect {
  readonly record: FoundRecord;
  readonly finding: number;
}

/** Missing numbers in the chain. */
interface Gap {
  /** `null` at the beginning of the log. */
  readonly before: FoundRecord | null;
  readonly after: FoundRecord;
  /** Lines in between that are not records, but could have been. */
  readonly unreadableLines: number;
  /** The number of the finding. It is only made at the end, because the missing records can be elsewhere in the log. */
  readonly finding: number;
}

export interface ChainOptions {
  /** Whether the log may begin later than with record 0. */
  readonly isPartial: boolean;
  /** Numbers of records whose hashes are also known from elsewhere. */
  readonly named: readonly number[];
}

/**
 * Follows the chain from record to record and lists its faults. After a finding it continues with the next record. If
 * the records after an intruding one fit the records before it, it continues with those. It finds nothing only if each
 * record carries the hash of the one before it and no number is missing.
 */
export class Chain {
  /** The chain's first and last record. */
  first: FoundRecord | null = null;
  last: FoundRecord | null = null;
  /** How many records were read, in any place. */
  records = 0;
  /** The findings of the chain, and those that its reader adds. */
  readonly findings = new FindingList();
  /** A record out of order. The next record can show that it is the right one. */
  #outOfLine: Suspect | null = null;
  /** The last record but one, if the last one carries another hash for it. */
  #accused: Suspect | null = null;
  #unreadableLines = 0;
  /** The hashes of the latest records, to recognise repeated ones. */
  readonly #recent = new Map<number, string>();
  /** Records that were found in a wrong place. */
  readonly #strays = new SeqRanges();
  readonly #gaps: Gap[] = [];
  readonly #options: ChainOptions;
  readonly #namedHashes = new Map<number, string>();

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  /** The hash of a record in `options.named`; `undefined` when it is not part of the chain. */
  hashOf(seq: number): string | undefined {
    return this.#namedHashes.get(seq);
  }

  /** Counts a line that is not a record: it can be in the place of one. */
  skipLine(): void {
    this.#unreadableLines++;
  }

  take(record: FoundRecord): void {
    this.records++;
    const suspect = this.#outOfLine;
    this.#outOfLine = null;
    if (suspect && this.last && isNext(suspect.record, record) && !isNext(this.last, record)) {
      this.#goBack(this.last, suspect);
    }
    if (this.last === null) this.#begin(record);
    else if (record.seq > this.last.seq) this.#goOn(this.last, record);
    else this.#leaveOut(this.last, record);
  }

  /** Call this after the last record. */
  end(): void {
    for (const gap of this.#gaps) this.#tellGap(gap);
  }

  #begin(record: FoundRecord): void {
    if (record.seq === 0 && record.prev !== noHash) this.findings.add(beginsBehind(record));
    if (record.seq > 0 && !this.#options.isPartial) this.#openGap(null, record);
    this.first = record;
    this.#follow(record);
  }

  #goOn(last: FoundRecord, record: FoundRecord): void {
    const accused = this.#accused;
    this.#accused = null;
    if (record.seq > last.seq + 1) {
      this.#openGap(last, record);
    } else if (record.prev !== last.hash) {
      if (accused) this.findings.replace(accused.finding, unvouched(accused.record, last));
      this.#accused = { record: last, finding: this.findings.add(altered(last, record)) };
    }
    this.#follow(record);
  }

  #leaveOut(last: FoundRecord, record: FoundRecord): void {
    const isRepeated = this.#recent.get(record.seq) === record.hash;
    const finding = this.findings.add(outOfLine(record, last, isRepeated));
    if (!isRepeated) this.#outOfLine = { record, finding };
    this.#strays.add(record.seq, record.seq);
  }

  /** The record out of order belongs to the chain; the present end of the chain does not. */
  #goBack(last: FoundRecord, { record, finding }: Suspect): void {
    const gap = this.#gaps.at(-1);
    if (record.seq === last.seq) {
      this.findings.replace(finding, intruding(last, last, record));
      if (this.#accused?.record.hash === record.prev) this.findings.replace(this.#accused.finding, null);
    } else if (gap && gap.after.seq <= last.seq && record.seq >= seqBehind(gap.before)) {
      this.#gaps.pop();
      this.findings.replace(finding, intruding(gap.after, last, record));
      this.#strays.add(gap.after.seq, last.seq);
      if (record.seq > seqBehind(gap.before)) this.#openGap(gap.before, record);
    } else {
      return;
    }
    this.#accused = null;
    this.#follow(record);
  }

  /** When there are too many open gaps, reports the oldest at once. */
  #openGap(before: FoundRecord | null, after: FoundRecord): void {
    if (this.#gaps.length === auditLimits.findingsMax) this.#tellGap(this.#gaps.shift());
    this.#gaps.push({ before, after, unreadableLines: this.#unreadableLines, finding: this.findings.reserve() });
  }

  #tellGap(gap: Gap | undefined): void {
    if (!gap) return;
    const { before, after, unreadableLines, finding } = gap;
    const from = seqBehind(before);
    const count = after.seq - from - this.#strays.countBetween(from, after.seq - 1) - unreadableLines;
    if (count > 0) this.findings.add(removed(before, after, count), finding);
  }

  #follow(record: FoundRecord): void {
    this.last = record;
    this.#unreadableLines = 0;
    this.#recent.set(record.seq, record.hash);
    if (this.#options.named.includes(record.seq)) this.#namedHashes.set(record.seq, record.hash);
    if (this.#recent.size > auditLimits.findingsMax) this.#recent.delete(this.#recent.keys().next().value ?? -1);
  }
}

/** Whether a record directly follows another one and carries its hash. */
function isNext(before: FoundRecord, record: FoundRecord): boolean {
  return record.seq === before.seq + 1 && record.prev === before.hash;
}

const seqBehind = (record: FoundRecord | null): number => (record === null ? 0 : record.seq + 1);

type SeqRange = Readonly<Record<"from" | "to", number>>;

/** A set of record numbers, kept as ranges. It ignores numbers beyond a maximum of ranges. */
class SeqRanges {
  #ranges: SeqRange[] = [];

  add(from: number, to: number): void {
    const isNear = (range: SeqRange): boolean => range.from <= to + 1 && range.to >= from - 1;
    const near = [...this.#ranges.filter(isNear), { from, to }];
    const apart = this.#ranges.filter((range) => !isNear(range));
    if (apart.length === auditLimits.findingsMax) return;
    const least = Math.min(...near.map((range) => range.from));
    const most = Math.max(...near.map((range) => range.to));
    this.#ranges = [...apart, { from: least, to: most }];
  }

  /** How many numbers of the set are from `from` to `to`. */
  countBetween(from: number, to: number): number {
    const counts = this.#ranges.map((range) => Math.min(to, range.to) - Math.max(from, range.from) + 1);
    return counts.reduce((sum, count) => sum + Math.max(count, 0), 0);
  }
}
