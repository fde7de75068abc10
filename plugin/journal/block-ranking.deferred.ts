/** Deferred (`build/README.md`): most searches look for a text. */
import { termsOf } from "../search/query.ts";
import { BlockRanking } from "./block-ranking.ts";

/** Returns `null` for a query without a word. */
export function rankingFor<Place>(query: string): BlockRanking<Place> | null {
  const terms = termsOf(query);
  return terms.length === 0 ? null : new BlockRanking(terms);
}
