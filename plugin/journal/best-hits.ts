/** The best results of a search, and no more of them in memory than an answer can hold. */
import { utf8Bytes } from "../../shared/text.ts";
import { compareTimes } from "./at-time.ts";
import type { PointInTime } from "./at-time.ts";
import type { BlockKind } from "./journal-files.ts";
import { journalLimits } from "./journal-limits.ts";
import type { SearchResult } from "./output.ts";

/** What the order of results depends on. */
export interface Rank {
  readonly kind: BlockKind;
  readonly time: PointInTime;
  readonly path: string;
  /** Where its heading begins in the file. */
  readonly start: number;
}

/** What is kept of a block that was found. */
export interface Hit {
  /** It takes no fewer bytes as JSON. */
  readonly bytesMin: number;
  /** `null` when the answer has no room for it. */
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

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The one that the next better hit drives out; `null` while there is room for any. */
  get worst(): Rank | null {
    return this.#kept.length < this.#limit ? null : (this.#kept.at(-1)?.rank ?? null);
  }

  takes(rank: Rank): boolean {
    const { worst } = this;
    return worst === null || compareRanks(rank, worst) < 0;
  }

  add(rank: Rank, hit: Hit): void {
    let at = this.#kept.length;
    for (let before = this.#kept[at - 1]; before && compareRanks(rank, before.rank) < 0; before = this.#kept[at - 1]) {
      at--;
    }
    this.#kept.splice(at, 0, { rank, ...hit });
    this.#kept.splice(this.#limit);
    this.#dropHopeless();
  }

  /**
   * In order, as many results as the answer has room for, and how many it has not. One that would not even fit alone is
   * passed over.
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

  /** What comes now before a result can only become more, so that one without room for it never has room again. */
  #dropHopeless(): void {
    let bytes = 0;
    for (const kept of this.#kept) {
      if (kept.bytesMin <= resultsBytesMax) bytes += kept.bytesMin;
      if (bytes > resultsBytesMax || kept.bytesMin > resultsBytesMax) kept.result = null;
    }
  }
}

const bytesOf = (result: SearchResult): number => utf8Bytes(JSON.stringify(result)) + ",".length;

/** One that may not fit alone, which only people can write, is measured: it must not count against the others. */
export function bytesMinOf(result: SearchResult): number {
  const units = [result.key, result.content, ...result.tags].reduce((sum, { length }) => sum + length, 0);
  // JSON writes a unit with six bytes at most, and a path and the names of the fields in less than 1 KiB.
  const fitsAlone = units * 6 + 1024 <= resultsBytesMax;
  return fitsAlone || units > resultsBytesMax ? units : bytesOf(result);
}

/** Below zero when the first comes before: summary first, then the newest, then by path, then by place. */
function compareRanks(a: Rank, b: Rank): number {
  if (a.kind !== b.kind) return a.kind === "summary" ? -1 : 1;
  const byTime = compareTimes(b.time, a.time);
  if (byTime !== 0) return byTime;
  return a.path === b.path ? a.start - b.start : a.path < b.path ? -1 : 1;
}
