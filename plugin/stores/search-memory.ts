/** The command `search`, over all stores that the caller reaches or one of them. */
import { placeIn } from "../../shared/abi.ts";
import { isEnough, ownStoreScope, scopeOfStore } from "../../shared/shared-scope.ts";
import { counted, utf8Bytes } from "../../shared/text.ts";
import { accessTo, now, reachedStores } from "../kit/capabilities.ts";
import { shown as seen, shownBody } from "../kit/hidden-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { search } from "../search/search.ts";
import type { SearchedEntry, SearchResult } from "../search/searched.ts";
import { addressed } from "./addressed.ts";
import { EntryStore } from "./entry-store.ts";
import { required } from "./required.ts";
import type { SearchInput } from "./schemas.ts";
import { entryLimits } from "./store-limits.ts";
import { unreadableNote } from "./unreadable-note.ts";
import { shownValue } from "./value.ts";
import { shownEntry } from "./view-memory.ts";
import type { ShownEntry } from "./view-memory.ts";

interface FoundResult extends ShownEntry {
  readonly score: number;
  readonly snippet: string;
  readonly value?: unknown;
}

/** Access is decided before anything is searched: a store that the caller does not reach takes no place in the result. */
export function searchMemory({ path, query }: SearchInput): Answer<{ readonly results: readonly FoundResult[] }> {
  const asked = required(query, "query", "query is required for search");
  if (asked.length > entryLimits.queryCharsMax) {
    const allowed = `at most ${entryLimits.queryCharsMax} characters`;
    throw new ToolError("INPUT_INVALID", `Cannot search: query is ${asked.length} characters, allowed: ${allowed}`);
  }
  const own = accessTo(ownStoreScope).store;
  const stores = path === undefined ? searchable() : [addressed(path, "search").at];
  const found = search({
    query: asked,
    stores: stores.map((store) => () => store.searched),
    limit: entryLimits.searchHitsMax,
    nowMs: Date.parse(now()),
  });
  const room = new Room(entryLimits.shownValueBytesMax);
  const results = found.hits.map(({ store, entry, score, snippet, path: file }): FoundResult => {
    const shown = shownEntry({ ...entry.entry, path: file }, store, own);
    const result = Object.assign(shown, { score: Math.round(score * 1_000) / 1_000, snippet: seen(snippet) });
    return room.takes(shownBody(entry.value))
      ? Object.assign(result, { value: shownValue(entry.entry.value) })
      : result;
  });
  const message = [messageOf(results, own, found), ...unreadableNote(stores, own)].join("\n");
  const shows = found.hits.map(({ store, path: file }) => placeIn(scopeOfStore(store), file));
  for (const { unreadable } of stores) shows.push(...unreadable.map(({ place }) => place));
  return { message, data: { results }, shows };
}

const searchable = (): EntryStore[] =>
  reachedStores()
    .filter(({ level }) => isEnough(level, "search"))
    .map((store) => new EntryStore(store));

type LeftOut = Pick<SearchResult<SearchedEntry>, "filesLeftOut" | "storesLeftOut">;

function messageOf(results: readonly FoundResult[], own: string, { filesLeftOut, storesLeftOut }: LeftOut): string {
  // The creator is the last on its line, so that neither a key nor a snippet can stand in its place.
  const lines = results.map(
    ({ path, snippet, owner }) => `${path}: ${snippet}${owner === own ? "" : ` (created by ${owner})`}`,
  );
  const entriesLeft = filesLeftOut === 0 ? [] : [`${filesLeftOut} entries were not searched`];
  const storesLeft = storesLeftOut === 0 ? [] : [`${counted(storesLeftOut, "store")} not even listed`];
  const left = [...entriesLeft, ...storesLeft].join(", ");
  const note = left === "" ? [] : [`(${left}: there is too much for one search. Search a store by its path.)`];
  return [...(lines.length === 0 ? ["Nothing found"] : lines), ...note].join("\n");
}

/** Values are shown in full while there is room for them; hits after that have their snippet. */
class Room {
  #bytesLeft: number;

  constructor(bytes: number) {
    this.#bytesLeft = bytes;
  }

  takes(value: string): boolean {
    const bytes = utf8Bytes(value);
    if (bytes > this.#bytesLeft) return false;
    this.#bytesLeft -= bytes;
    return true;
  }
}
