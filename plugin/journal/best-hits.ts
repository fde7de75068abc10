/** Keeps the best results of a search, and no more of them in memory than an answer can hold. */
import { utf8Bytes } from "../../shared/text.ts";
import { compareTimes } from "./at-time.ts";
import type { PointInTime } from "./at-time.ts";
import type { BlockKind } from "./journal-files.ts";
import { journalLimits } from "./journal-limits.ts";
import type { SearchResult } from "./output.ts";

/** The facts that determine the order of results. */
export interface Rank {
  readonly kind: BlockKind;
  readonly time: PointInTime;
  readonly path: string;
  /** Where its heading begins in the file. */
  readonly start: number;
}

/** A block that was found. */
export interface Hit {
  /** The result takes at least this many bytes as JSON. */
  readonly bytesMin: number;
  /** `null` if the answer has no room for it. */
  readonly result: SearchResult | null;
}

interface Kept {
  readonly rank: Rank;
  readonly bytesMin: number;
  result: SearchResult | null;
}

const { resultsBytesMax } = journalLimits;

export class BestHits {
  readonly #limit: number;
  readonly #kept: Kept[] = [];
  /** The sum over the kept results, without those that do not fit alone. */
  #bytesMin = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The rank that a new hit must beat; `null` while there is room. */
  get worst(): Rank | null {
    return this.#kept.length < this.#limit ? null : (this.#kept.at(-1)?.rank ?? null);
  }

  takes(rank: Rank): boolean {
    const { worst } = this;
    return worst === null || compareRanks(rank, worst) < 0;
  }

  add(rank: Rank, { bytesMin, result }: Hit): void {
    this.#kept.splice(this.#placeOf(rank), 0, { rank, bytesMin, result: bytesMin > resultsBytesMax ? null : result });
    const surplus = this.#kept.length > this.#limit ? this.#kept.pop() : undefined;
    this.#bytesMin += ofShown(bytesMin) - ofShown(surplus?.bytesMin ?? 0);
    if (this.#bytesMin > resultsBytesMax) this.#dropHopeless();
  }

  /**
   * Returns as many results as fit into the answer, in order, and how many are left out. Skips a result that would not
   * fit alone.
   */
  shown(): { results: SearchResult[]; leftOut: number } {
    const results: SearchResult[] = [];
    let bytes = 0;
    for (const { bytesMin, result } of this.#kept) {
      const own = result === null ? bytesMin : bytesOf(result);
      if (own > resultsBytesMax) continue;
      bytes += own;
      if (bytes > resultsBytesMax || result === null) break;
      results.push(result);
    }
    return { results, leftOut: this.#kept.length - results.length };
  }

  /** Binary search: a file can have as many blocks as lines, each better than all before it. */
  #placeOf(rank: Rank): number {
    let [from, to] = [0, this.#kept.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const kept = this.#kept[middle];
      if (kept && compareRanks(rank, kept.rank) < 0) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  /** Better results can only be added, so a result that has no room now never gets room again. */
  #dropHopeless(): void {
    let bytes = 0;
    for (const kept of this.#kept) {
      bytes += ofShown(kept.bytesMin);
      if (bytes > resultsBytesMax) kept.result = null;
    }
  }
}

/** A result that would not fit alone is skipped and takes no room. */
const ofShown = (bytesMin: number): number => (bytesMin > resultsBytesMax ? 0 : bytesMin);

const bytesOf = (result: SearchResult): number => utf8Bytes(JSON.stringify(result)) + ",".length;

/**
 * A lower bound of a result's bytes as JSON. It is exact for a result that possibly does not fit alone, which only
 * people can write: such a result must not take room from the others.
 */
export function bytesMinOf(result: SearchResult): number {
  const units = [result.key, result.content, ...result.tags].reduce((sum, { length }) => sum + length, 0);
  // JSON takes at most six bytes per UTF-16 unit, and less than 1 KiB for the path and the field names.
  const fitsAlone = units * 6 + 1024 <= resultsBytesMax;
  return fitsAlone || units > resultsBytesMax ? units : bytesOf(result);
}

/** Negative if the first comes first: summary first, then newest, then by path, then by position in the file. */
function compareRanks(a: Rank, b: Rank): number {
  if (a.kind !== b.kind) return a.kind === "summary" ? -1 : 1;
  const byTime = compareTimes(b.time, a.time);
  if (byTime !== 0) return byTime;
  return a.path === b.path ? a.start - b.start : a.path < b.path ? -1 : 1;
}
