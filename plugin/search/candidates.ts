import type { Term } from "./query.ts";
import type { EntrySource, SearchedEntry } from "./searched.ts";

/** An entry that has at least one word of the query. */
export interface Candidate<Entry extends SearchedEntry> {
  readonly store: EntrySource<Entry>;
  readonly path: string;
  readonly updatedMs: number;
  readonly length: number;
  /** `null` if only the index was read. */
  readonly entry: Entry | null;
  /** For each term of the query. 0 if the entry does not have it. */
  readonly weights: number[];
}

/** Collects what a search can find. */
export class Candidates<Entry extends SearchedEntry> {
  readonly terms: readonly Term[];
  readonly found: Candidate<Entry>[] = [];
  /** All entries, whether they have a word of the query or not. */
  entries = 0;
  /** All their lengths together. */
  length = 0;

  constructor(terms: readonly Term[]) {
    this.terms = terms;
  }

  /** Counts an entry, whether it is found or not. One of no length has nothing to find. */
  count(length: number): void {
    if (length === 0) return;
    this.entries++;
    this.length += length;
  }

  add(candidate: Candidate<Entry>): Candidate<Entry> {
    this.found.push(candidate);
    return candidate;
  }
}
