import { auditLimits } from "../../../shared/limits.ts";
import { noHash } from "../log/record-line.ts";
import { altered, beginsBehind, FindingList, intruding, outOfLine, removed, unvouched } from "./findings.ts";
import type { FoundRecord } from "./findings.ts";

/** A record, and the number of what was found of it. */
interface Suspect {
  readonly record: FoundRecord;
  readonly finding: number;
}

/** Numbers that are left out where the chain goes on. */
interface Gap {
  /** `null` at the beginning of the log. */
  readonly before: FoundRecord | null;
  readonly after: FoundRecord;
  /** Lines in between that are no records, and may have been. */
  readonly unreadableLines: number;
  /** The number of the finding, which is made when all was read: what is left out may stand elsewhere. */
  readonly finding: number;
}

export interface ChainOptions {
  /** Whether the records before the first that is there may be elsewhere. */
  readonly isPartial: boolean;
  /** Numbers of records whose hashes somebody else has kept. */
  readonly named: readonly number[];
}

/**
 * Follows the chain from record to record and says what is wrong with it. After a finding it goes on with what is there;
 * when the records behind an intruder fit to those before it, with these. Whatever it makes of a log, it is silent only
 * when each record carries the hash of the one before it and no number is left out.
 */
export class Chain {
  /** Where the chain begins and where it ends. */
  first: FoundRecord | null = null;
  last: FoundRecord | null = null;
  /** How many were taken, in whatever place. */
  records = 0;
  /** Of the chain, and of what else its reader finds. */
  readonly findings = new FindingList();
  /** A record out of line, which the next one may show to be the right one. */
  #outOfLine: Suspect | null = null;
  /** The last record but one, when the last one says that it was altered. */
  #accused: Suspect | null = null;
  #unreadableLines = 0;
  /** The hashes of the latest records, to know one that stands there again. */
  readonly #recent = new Map<number, string>();
  /** Records that are there, but elsewhere. */
  readonly #strays = new SeqRanges();
  readonly #gaps: Gap[] = [];
  readonly #options: ChainOptions;
  readonly #namedHashes = new Map<number, string>();

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  /** The hash of a record that was named to the constructor; `undefined` when the chain does not lead over it. */
  hashOf(seq: number): string | undefined {
    return this.#namedHashes.get(seq);
  }

  /** A line that is no record: it may stand in the place of one. */
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

  /** All was read. */
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

  /** What was taken for the chain's end does not belong there: the record out of line does. */
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

  /** Of a log that is nothing but gaps the oldest are told at once. */
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

/** Whether a record was written behind another one, as that one is now. */
function isNext(before: FoundRecord, record: FoundRecord): boolean {
  return record.seq === before.seq + 1 && record.prev === before.hash;
}

const seqBehind = (record: FoundRecord | null): number => (record === null ? 0 : record.seq + 1);

type SeqRange = Readonly<Record<"from" | "to", number>>;

/** A set of record numbers, kept as ranges. Beyond so many ranges it takes no more. */
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

  /** How many numbers from one to another are in here. */
  countBetween(from: number, to: number): number {
    const counts = this.#ranges.map((range) => Math.min(to, range.to) - Math.max(from, range.from) + 1);
    return counts.reduce((sum, count) => sum + Math.max(count, 0), 0);
  }
}
