/** Keeps the newest keys, each with its canonical block: at most twice as many as the list can have. */
import { compareTimes } from "./at-time.ts";
import type { Rank } from "./best-hits.ts";

export interface NewestKey {
  readonly key: string;
  readonly description: string;
  /** Of the file with its canonical block. */
  readonly path: string;
}

interface Found {
  readonly rank: Rank;
  readonly description: string;
}

export class NewestKeys {
  readonly #limit: number;
  readonly #found = new Map<string, Found>();
  /** The rank of the list's last entry so far; `null` while the list has room. Later blocks are not listed. */
  #last: Rank | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get last(): Rank | null {
    return this.#last;
  }

  /**
   * Whether a block can be in the list: it comes before the known block of its key or, if there is none, before the
   * list's last.
   */
  takes(key: string, rank: Rank): boolean {
    const bound = this.#found.get(key)?.rank ?? this.#last;
    return bound === null || compareRanks(rank, bound) < 0;
  }

  /** Beyond twice the limit, the surplus is dropped. A dropped key has a full list of newer keys before it. */
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
      .map(([key, { description, rank }]) => ({ key, description, path: rank.path }));
  }

  #sorted(): [key: string, found: Found][] {
    return [...this.#found].toSorted(([, a], [, b]) => compareRanks(a.rank, b.rank));
  }
}

/** Negative if the first comes first. The canonical block of a key comes before all its others. */
function compareRanks(a: Rank, b: Rank): number {
  if (a.kind !== b.kind) return a.kind === "summary" ? -1 : 1;
  const byTime = compareTimes(b.time, a.time);
  if (byTime !== 0) return byTime;
  return a.path === b.path ? b.start - a.start : a.path > b.path ? -1 : 1;
}
