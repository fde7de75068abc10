import { Candidates } from "./candidates.ts";
import type { Candidate } from "./candidates.ts";
import { lengthOf, weightsOf } from "./entry-words.ts";
import { fold } from "./fold.ts";
import type { IndexRow } from "./index-row.ts";
import { positionOf } from "./position-of.ts";
import { postingsContaining, postingsOf } from "./postings.ts";
import type { PostingLines } from "./postings.ts";
import type { Term } from "./query.ts";
import type { SearchedEntry, SearchedStore } from "./searched.ts";

/** Collects what a search can find in stores: from their indexes, and from entries that no index has. */
export class IndexedCandidates<Entry extends SearchedEntry> extends Candidates<Entry> {
  /** Adds the entries of an index file. A row is `null` if its entry cannot be found through it. */
  addIndexed(store: SearchedStore<Entry>, rows: readonly (IndexRow | null)[], lines: PostingLines): void {
    for (const row of rows) if (row) this.count(row.length);
    const found = new Map<number, Candidate<Entry>>();
    for (const [term, { stem, isPart }] of this.terms.entries()) {
      const postings = isPart ? postingsContaining(lines, stem) : postingsOf(lines, stem);
      for (const { row: number, weight } of postings) {
        const row = rows[number];
        // A person can have edited the index as well.
        if (!row || !(weight > 0)) continue;
        const candidate =
          found.get(number) ?? this.add({ ...row, store, entry: null, weights: this.terms.map(() => 0) });
        found.set(number, candidate);
        candidate.weights[term] = (candidate.weights[term] ?? 0) + weight;
      }
    }
  }

  /** Adds an entry that no index has. Only if it can have a word of the query is it cut into words. */
  addRead(store: SearchedStore<Entry>, path: string, entry: Entry): void {
    const length = lengthOf(entry);
    this.count(length);
    const text = fold(`${entry.key}\n${entry.value}`);
    if (!this.terms.some(({ beginning }) => positionOf(text, beginning) !== -1)) return;
    const stems = weightsOf(entry);
    const weights = this.terms.map((term) => weightIn(stems, term));
    if (weights.some((weight) => weight > 0))
      this.add({ store, path, updatedMs: entry.updatedMs, length, entry, weights });
  }
}

function weightIn(stems: ReadonlyMap<string, number>, { stem, isPart }: Term): number {
  if (!isPart) return stems.get(stem) ?? 0;
  return Array.from(stems).reduce((sum, [each, weight]) => (each.includes(stem) ? sum + weight : sum), 0);
}
