/** The newest of all keys, each with its canonical block, and no more of them in memory than a list may have. */
import { compareTimes } from "./at-time.ts";
import type { Rank } from "./best-hits.ts";

/** A key, and what a list says of it. */
export interface NewestKey {
  readonly key: string;
  readonly description: string;
}

interface Found {
  readonly rank: Rank;
  readonly description: string;
}

export class NewestKeys {
  readonly #limit: number;
  readonly #found = new Map<string, Found>();
  /** Where the list ends, as far as is known: what does not come before it is in no list. */
  #last: Rank | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get last(): Rank | null {
    return this.#last;
  }

  /** Whether a block may be one of the list: none with its key that is known comes before it. */
  takes(key: string, rank: Rank): boolean {
    const bound = this.#found.get(key)?.rank ?? this.#last;
    return bound === null || compareRanks(rank, bound) < 0;
  }

  /** Beyond twice the limit the surplus goes. A key that goes has as many newer ones before it as a list may have. */
  add(key: string, found: Found): void {
    this.#found.set(key, found);
    if (this.#found.size > 2 * this.#limit) this.dropSurplus();
  }

  dropSurplus(): void {
    if (this.#found.size < this.#limit) return;
    const sorted = this.#sorted();
    for (const [key] of sorted.slice(this.#limit)) this.#found.delete(key);
    this.#last = sorted[this.#limit - 1]?.[1].rank ?? null;
  }

  /** In order. */
  list(): NewestKey[] {
    return this.#sorted()
      .slice(0, this.#limit)
      .map(([key, { description }]) => ({ key, description }));
  }

  #sorted(): [key: string, found: Found][] {
    return [...this.#found].toSorted(([, a], [, b]) => compareRanks(a.rank, b.rank));
  }
}

/** Below zero when the first comes before. Of blocks with one key, the canonical one comes before all others. */
function compareRanks(a: Rank, b: Rank): number {
  if (a.kind !== b.kind) return a.kind === "summary" ? -1 : 1;
  const byTime = compareTimes(b.time, a.time);
  if (byTime !== 0) return byTime;
  return a.path === b.path ? b.start - a.start : a.path > b.path ? -1 : 1;
}
