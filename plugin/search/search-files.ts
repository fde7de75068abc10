/**
 * Text search over files without an index, of which the engine tells what words they have. The ranking is that of
 * `search.ts`, except that a file is as long as its bytes and as old as its last change.
 */
import { Candidates } from "./candidates.ts";
import { hitsOf } from "./hits.ts";
import { termsOf } from "./query.ts";
import { readCostOf } from "./read-budget.ts";
import { searchLimits } from "./search-limits.ts";
import type { EntrySource, FoundEntry, Hit, SearchedEntry, SearchedFile } from "./searched.ts";
import { TermCounts } from "./term-counts.ts";

export interface SearchedFiles<Entry extends SearchedEntry> extends EntrySource<Entry> {
  readonly files: readonly SearchedFile[];
  /**
   * Returns what a file has of words with one of the beginnings, or `null` if it has none. Each beginning is lower-case
   * ASCII, with a space behind it.
   */
  findEntry(path: string, beginnings: string): FoundEntry<Entry> | null;
}

export interface FoundInFiles<Entry extends SearchedEntry> {
  /** The best first, at most 50. */
  readonly hits: readonly Hit<Entry>[];
  /** Files that were not searched, because there was too much to read: those changed first. */
  readonly filesLeftOut: number;
}

export function searchFiles<Entry extends SearchedEntry>(
  query: string,
  source: SearchedFiles<Entry>,
  limit: number,
): FoundInFiles<Entry> {
  const terms = termsOf(query);
  if (terms.length === 0) return { hits: [], filesLeftOut: 0 };
  const candidates = new Candidates<Entry>(terms);
  const counts = new TermCounts(terms);
  const newestFirst = source.files.toSorted((one, other) => other.changedUs - one.changedUs);
  let [searched, costLeft] = [0, searchLimits.readCostMax];
  for (const file of newestFirst) {
    if (costLeft < 0) break;
    const { path, bytes, changedUs } = file;
    const found = source.findEntry(path, counts.beginnings);
    const isByEngine = !found || found.valueWords !== undefined;
    costLeft -= isByEngine ? readCostOf(file) / searchLimits.engineSpeed : readCostOf(file);
    searched++;
    // An empty file has a name, which can be found.
    candidates.count(Math.max(bytes, 1));
    const weights = found ? counts.weightsOf(found) : [];
    if (!found || !weights.some((weight) => weight > 0)) continue;
    candidates.add({ store: source, path, updatedMs: changedUs / 1_000, length: bytes, entry: found.entry, weights });
  }
  return { hits: hitsOf(candidates, limit), filesLeftOut: newestFirst.length - searched };
}
