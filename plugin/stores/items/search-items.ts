/** The operation `search`: items below a namespace, by their fields and by words. */
import type { ListedFile } from "../../../shared/abi.ts";
import { searchFiles } from "../../search/search-files.ts";
import type { FoundEntry as FoundInFile, SearchedEntry } from "../../search/searched.ts";
import type { FoundEntry } from "../entry-store.ts";
import { searchedFile } from "../store-index.ts";
import { entryLimits } from "../store-limits.ts";
import { fitsAlone } from "./answer-room.ts";
import type { AnswerRoom } from "./answer-room.ts";
import { matches } from "./item-filter.ts";
import { isBelow, shownItem } from "./item-store.ts";
import type { Item, ItemStore } from "./item-store.ts";
import type { ItemSearch } from "./operation.ts";

export interface FoundItems {
  readonly items: readonly (Item & { readonly score?: number })[];
  /** If the search has not come to its end: the same search goes on with these, and finds `limit` less what it has. */
  readonly next?: { readonly after: string; readonly offset: number };
  /** Of a query: items that were not searched, because there were too many. Those changed last were. */
  readonly leftOut?: number;
  /** Items that were passed over because their files cannot be read. */
  readonly unreadable?: number;
}

/** `null` if the batch has gone through too much. */
export function searchItems(store: ItemStore, search: ItemSearch, room: AnswerRoom): FoundItems | null {
  if (!room.takesList(store.filesBelow(search.namespace))) return null;
  return search.query === null ? walk(store, search, room) : ranked(store, { ...search, query: search.query }, room);
}

/** By the paths of the files, so that an answer can go on where another ended. */
function walk(store: ItemStore, search: ItemSearch, room: AnswerRoom): FoundItems {
  const items: Item[] = [];
  let [after, offset, unreadable] = [search.after, search.offset, 0];
  const found = (next?: FoundItems["next"]): FoundItems => ({
    items,
    ...(next && { next }),
    ...(unreadable > 0 && { unreadable }),
  });
  for (const file of store.filesBelow(search.namespace)) {
    if (file.path <= after) continue;
    if (items.length >= search.limit) break;
    if (!room.takesRead(file)) return found({ after, offset });
    const entry = store.read(file.path);
    if (entry !== null && "unreadable" in entry) unreadable++;
    else if (entry !== null && isWanted(entry, search)) {
      if (offset > 0) offset--;
      else {
        const item = shownItem(entry);
        if (!fitsAlone(item)) unreadable++;
        else if (room.takes(item)) items.push(item);
        else return found({ after, offset });
      }
    }
    after = file.path;
  }
  return found();
}

const isWanted = (entry: FoundEntry, { namespace, filter }: ItemSearch): boolean =>
  isBelow(entry.namespace, namespace) && (filter === null || matches(shownItem(entry).value, filter));

type SearchedItem = SearchedEntry & { readonly found: FoundEntry };

function ranked(
  store: ItemStore,
  search: ItemSearch & { readonly query: string },
  room: AnswerRoom,
): FoundItems | null {
  const all = store.filesBelow(search.namespace);
  const looks = room.takeLooks(all.length);
  if (looks === null) return null;
  const files = newest(all, looks);
  let unreadable = 0;
  const readEntry = (path: string): SearchedItem | null => {
    const found = store.read(path);
    if (found !== null && "unreadable" in found) unreadable++;
    if (found === null || "unreadable" in found || !isWanted(found, search)) return null;
    const { key, value, updated } = found;
    return { key, value: value.content, updatedMs: Date.parse(updated ?? "") || 0, expiresMs: null, found };
  };
  const findEntry = (path: string, beginnings: string): FoundInFile<SearchedItem> | null => {
    const words = store.wordsOf(path, beginnings);
    if (words === null) return null;
    // All words are behind the first line `---`, so none is in the front matter, wherever that ends.
    if (words?.startsWith("\n")) return { entry: null, valueWords: words.slice(1), keyCanHave: false };
    const entry = readEntry(path);
    return entry && { entry, valueWords: undefined, keyCanHave: true };
  };
  const searched = files.searched.map(searchedFile);
  const end = Math.min(search.offset + search.limit, entryLimits.searchHitsMax);
  const { hits, filesLeftOut } = searchFiles(
    search.query,
    { store: store.id, files: searched, readEntry, findEntry },
    end,
  );
  const wanted = hits.slice(search.offset, end);
  const items = wanted.map(({ entry, score }) => Object.assign(shownItem(entry.found), { score: rounded(score) }));
  const shown = items.filter((item) => fitsAlone(item) && room.takes(item));
  const leftOut = filesLeftOut + files.left + items.length - shown.length;
  return { items: shown, ...(leftOut > 0 && { leftOut }), ...(unreadable > 0 && { unreadable }) };
}

function newest(
  files: readonly ListedFile[],
  most: number,
): { readonly searched: readonly ListedFile[]; readonly left: number } {
  if (files.length <= most) return { searched: files, left: 0 };
  const newestFirst = files.toSorted((one, other) => (other.changedUs ?? 0) - (one.changedUs ?? 0));
  return { searched: newestFirst.slice(0, most), left: files.length - most };
}

const rounded = (score: number): number => Math.round(score * 1_000) / 1_000;
