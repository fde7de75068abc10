import type { Candidate, Candidates } from "./candidates.ts";
import { rarityOf, scoreOf } from "./ranking.ts";
import type { SearchedEntry } from "./searched.ts";

export interface Ranked<Entry extends SearchedEntry> {
  readonly candidate: Candidate<Entry>;
  readonly score: number;
}

/** Returns the best candidates, the best first; of two with the same score the newer one, then by store and path. */
export function bestOf<Entry extends SearchedEntry>(candidates: Candidates<Entry>, count: number): Ranked<Entry>[] {
  const scores = scoresOf(candidates);
  // A native sort of the scores and a sort of the best take a fifth of the time of a sort of all candidates.
  const worst = scores.toSorted().at(-count) ?? 0;
  const ranked = candidates.found.map((candidate, at) => ({ candidate, score: scores[at] ?? 0 }));
  const best = ranked.filter(({ score }) => score >= worst);
  return best.toSorted(compareRanked).slice(0, count);
}

function scoresOf<Entry extends SearchedEntry>({ found, terms, entries, length }: Candidates<Entry>): Float64Array {
  const scores = new Float64Array(found.length);
  for (const term of terms.keys()) {
    const withIt = found.filter(({ weights }) => (weights[term] ?? 0) > 0).length;
    const rarity = rarityOf(withIt, entries);
    for (const [at, candidate] of found.entries()) {
      const weight = candidate.weights[term] ?? 0;
      if (weight > 0) scores[at] = (scores[at] ?? 0) + rarity * scoreOf(weight, (candidate.length * entries) / length);
    }
  }
  return scores;
}

function compareRanked<Entry extends SearchedEntry>(one: Ranked<Entry>, other: Ranked<Entry>): number {
  return (
    other.score - one.score ||
    other.candidate.updatedMs - one.candidate.updatedMs ||
    compareTexts(one.candidate.store.store, other.candidate.store.store) ||
    compareTexts(one.candidate.path, other.candidate.path)
  );
}

const compareTexts = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
