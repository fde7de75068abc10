import { lengthOf, weightsOf } from "./entry-words.ts";
import { fold } from "./fold.ts";
import type { IndexRow } from "./index-row.ts";
import { positionOf } from "./position-of.ts";
import { postingsContaining, postingsOf } from "./postings.ts";
import type { PostingLines } from "./postings.ts";
import type { Term } from "./query.ts";
import type { FoundEntry, SearchedEntry, SearchedFile, SearchedStore } from "./searched.ts";
import { TermCounts } from "./term-counts.ts";

/** An entry that has at least one word of the query. */
export interface Candidate<Entry extends SearchedEntry> {
  readonly store: SearchedStore<Entry>;
  readonly path: string;
  readonly updatedMs: number;
  readonly length: number;
  /** `null` if only the index was read. */
  readonly entry: Entry | null;
  /** For each term of the query. 0 if the entry does not have it. */
  readonly weights: number[];
}

/** Collects what a search can find, from indexes and from entries that were read. */
export class Candidates<Entry extends SearchedEntry> {
  readonly terms: readonly Term[];
  readonly found: Candidate<Entry>[] = [];
  /** All entries, whether they have a word of the query or not. */
  entries = 0;
  /** All their lengths together. */
  length = 0;

  readonly #counts: TermCounts;

  constructor(terms: readonly Term[]) {
    this.terms = terms;
    this.#counts = new TermCounts(terms);
  }

  /** For `findEntry`. */
  get beginnings(): string {
    return this.#counts.beginnings;
  }

  /** Adds the entries of an index file. A row is `null` if its entry cannot be found through it. */
  addIndexed(store: SearchedStore<Entry>, rows: readonly (IndexRow | null)[], lines: PostingLines): void {
    for (const row of rows) if (row) this.#count(row.length);
    const found = new Map<number, Candidate<Entry>>();
    for (const [term, { stem, isPart }] of this.terms.entries()) {
      const postings = isPart ? postingsContaining(lines, stem) : postingsOf(lines, stem);
      for (const { row: number, weight } of postings) {
        const row = rows[number];
        // A person can have edited the index as well.
        if (!row || !(weight > 0)) continue;
        const candidate = found.get(number) ?? this.#add({ ...row, store, entry: null });
        found.set(number, candidate);
        candidate.weights[term] = (candidate.weights[term] ?? 0) + weight;
      }
    }
  }

  /** Adds an entry that no index has. Only if it can have a word of the query is it cut into words. */
  addRead(store: SearchedStore<Entry>, path: string, entry: Entry): void {
    const length = lengthOf(entry);
    this.#count(length);
    const text = fold(`${entry.key}\n${entry.value}`);
    if (!this.terms.some(({ beginning }) => positionOf(text, beginning) !== -1)) return;
    const stems = weightsOf(entry);
    const weights = this.terms.map((term) => weightIn(stems, term));
    if (weights.some((weight) => weight > 0))
      this.#add({ store, path, updatedMs: entry.updatedMs, length, entry }, weights);
  }

  /** Adds a file with nothing that the query looks for. */
  addOther({ bytes }: SearchedFile): void {
    this.#count(bytes);
  }

  /** Adds what a store without an index has found. */
  addFound(store: SearchedStore<Entry>, { path, bytes, changedUs }: SearchedFile, found: FoundEntry<Entry>): void {
    this.#count(bytes);
    const weights = this.#counts.weightsOf(found);
    if (!weights.some((weight) => weight > 0)) return;
    this.#add({ store, path, updatedMs: changedUs / 1_000, length: bytes, entry: found.entry }, weights);
  }

  #count(length: number): void {
    if (length === 0) return;
    this.entries++;
    this.length += length;
  }

  #add(
    { store, path, updatedMs, length, entry }: Omit<Candidate<Entry>, "weights">,
    weights = this.terms.map(() => 0),
  ): Candidate<Entry> {
    const candidate = { store, path, updatedMs, length, entry, weights };
    this.found.push(candidate);
    return candidate;
  }
}

function weightIn(stems: ReadonlyMap<string, number>, { stem, isPart }: Term): number {
  if (!isPart) return stems.get(stem) ?? 0;
  return Array.from(stems).reduce((sum, [each, weight]) => (each.includes(stem) ? sum + weight : sum), 0);
}
