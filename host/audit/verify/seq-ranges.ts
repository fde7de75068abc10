import { auditLimits } from "../../../shared/limits.ts";

interface SeqRange {
  readonly from: number;
  readonly to: number;
}

/** A set of record numbers, kept as ranges. Beyond so many ranges it takes no more. */
export class SeqRanges {
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
