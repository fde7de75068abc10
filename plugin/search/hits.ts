import { bestOf } from "./best-of.ts";
import type { Candidates } from "./candidates.ts";
import { searchLimits } from "./search-limits.ts";
import type { Hit, SearchedEntry } from "./searched.ts";
import { snippetOf } from "./snippet.ts";

/** The best hits. An entry that is gone, or that is not wanted after all, makes room for the next. */
export function hitsOf<Entry extends SearchedEntry>(
  candidates: Candidates<Entry>,
  limitAsked: number,
  isWanted: (entry: Entry) => boolean = () => true,
): Hit<Entry>[] {
  const limit = Math.min(limitAsked, searchLimits.hitsMax);
  const hits: Hit<Entry>[] = [];
  for (let seen = 0; hits.length < limit && seen < candidates.found.length; seen += limit) {
    for (const { candidate, score } of bestOf(candidates, seen + limit).slice(seen)) {
      const { store, path } = candidate;
      const entry = candidate.entry ?? store.readEntry(path);
      if (!entry || !isWanted(entry) || hits.length === limit) continue;
      hits.push({ store: store.store, path, entry, score, snippet: snippetOf(entry.value, candidates.terms) });
    }
  }
  return hits;
}
