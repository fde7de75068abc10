/** The text search. Deferred (`build/README.md`): few calls need it. */
import { search } from "../search/search.ts";
import type { SearchedEntry, SearchRequest, SearchResult } from "../search/searched.ts";

export function searchRanked<Entry extends SearchedEntry>(request: SearchRequest<Entry>): SearchResult<Entry> {
  return search(request);
}
