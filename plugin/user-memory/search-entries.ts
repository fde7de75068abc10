/** Finds entries by words. */
import { decodedName } from "../../shared/encoded-name.ts";
import { shown as seen } from "../kit/hidden-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import type { SearchedFiles } from "../search/search-files.ts";
import type { FoundEntry, SearchedEntry } from "../search/searched.ts";
import { listedTime, yamlBudget } from "./entry-file.ts";
import type { Entry, Unreadable } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { countedEntries, listEntries, unknownCursor } from "./entry-listing.ts";
import { entryPath } from "./entry-name.ts";
import type { EntryType } from "./entry-types.ts";
import { asIndexDescription } from "./index-description.ts";
import { entryIn, listEntryFiles, memory, readUnlessUnsafe, shownPlace } from "./memory-scope.ts";
import type { EntryFile } from "./newest-entries.ts";
import { asciiOf } from "./notes.deferred.ts";
import { searchFiles } from "./ranked-search.deferred.ts";
import type { SearchUserMemoryInput, SearchUserMemoryOutput, ShownEntry } from "./schemas/search.ts";

/** The tool `SearchUserMemory`: without a query it lists the entries. */
export function searchOrList(input: SearchUserMemoryInput): Answer<SearchUserMemoryOutput> {
  const query = input.query ?? "";
  return query.trim() === "" ? listEntries(input) : searchEntries(query, input);
}

/** An entry as the search sees it: name and description count several times, as the key. */
interface Searched extends SearchedEntry {
  readonly name: string;
  readonly path: string;
  readonly entry: Entry | Unreadable;
}

function searchEntries(query: string, { type, cursor }: SearchUserMemoryInput): Answer<SearchUserMemoryOutput> {
  const { searchHitsMax, entriesPerPage } = entryLimits;
  const start = cursor === undefined ? 0 : offsetOf(cursor);
  const end = Math.min(start + entriesPerPage, searchHitsMax);
  const { hits, filesLeftOut } = searchFiles(query, allEntries(query, type), end + 1);
  const page = hits.slice(start, end);
  const entries = page.map(({ entry, snippet }) => shown(entry, snippet));
  const found = entries.length === 0 ? nothingFound : `${countedEntries(entries.length)} found, the best first`;
  const left = filesLeftOut === 0 ? "" : `; ${filesLeftOut} entries were not searched, because there is too much text`;
  const nextCursor = hits.length > end && end < searchHitsMax ? String(end) : null;
  return {
    message: found + left,
    data: { entries, nextCursor },
    shows: page.map(({ entry }) => shownPlace(entry.path)),
  };
}

const nothingFound = "No entry found: try other words, or list the entries without a query";

/** All entries that a search can find, of one type if it is given. */
function allEntries(query: string, type: EntryType | undefined): SearchedFiles<Searched> {
  const files = listEntryFiles().map(({ name, path, bytes, changedUs }) => ({
    name,
    path,
    bytes,
    changedUs: changedUs ?? 0,
  }));
  const byPath = new Map(files.map((file) => [file.path, file]));
  const readEntry = (path: string): Searched | null => readSearched(byPath.get(path), type);
  const names = new SearchedNames(files, query);
  const findEntry = (path: string, beginnings: string): FoundEntry<Searched> | null => {
    const words = names.canHave(path, beginnings) ? undefined : memory.wordsOf(path, beginnings);
    if (words === null) return null;
    const end = words?.indexOf("\n") ?? -1;
    // If all words are behind the first line `---`, none is in the front matter, wherever that ends.
    if (words !== undefined && end === 0) return { entry: null, valueWords: words.slice(1), keyCanHave: false };
    const entry = readEntry(path);
    const valueWords = entry && end > 0 && isCanonical(entry.entry) ? words?.slice(end + 1) : undefined;
    return entry && { entry, valueWords, keyCanHave: true };
  };
  return { store: "", files, readEntry, findEntry };
}

/** Only in the canonical form does the front matter surely end at the first line `---`. */
const isCanonical = (entry: Entry | Unreadable): boolean =>
  "body" in entry && entry.frontMatter === null && entry.headBytes > 0;

function readSearched(file: EntryFile | undefined, type: EntryType | undefined): Searched | null {
  if (file === undefined) return null;
  const { name, path } = file;
  const entry = entryIn(readUnlessUnsafe(path), name, yamlBudget);
  if (entry === null || (type !== undefined && entry.type !== type)) return null;
  const [value, others] = "body" in entry ? [entry.body, entry.frontMatter ?? ""] : [entry.text, ""];
  const key = `${wordsOfFile(file)} ${entry.description ?? ""} ${otherFields(others)}`;
  return { key, value, updatedMs: 0, expiresMs: null, name, path, entry };
}

/** Which files are found by their names. A file that a person made need not have its name in its text. */
class SearchedNames {
  readonly #words: ReadonlyMap<string, string>;
  readonly #all: string;
  /** Beginnings are ASCII, and tell nothing of other words. */
  readonly #isAscii: boolean;
  #beginnings = "";
  /** Those that any name has. */
  #present: readonly string[] = [];

  constructor(files: readonly EntryFile[], query: string) {
    this.#isAscii = /^[\0-\x7f]*$/.test(query);
    this.#words = new Map(files.map((file) => [file.path, partsOf(file)]));
    this.#all = Array.from(this.#words.values()).join("\n");
  }

  canHave(path: string, beginnings: string): boolean {
    if (!this.#isAscii && path.includes("%")) return true;
    if (beginnings !== this.#beginnings) {
      const all = beginnings.split(" ").slice(0, -1);
      this.#present = all.filter((each) => this.#all.includes(each));
      this.#beginnings = beginnings;
    }
    if (this.#present.length === 0) return false;
    const words = this.#words.get(path) ?? "";
    return this.#present.some((each) => words.includes(each));
  }
}

/** A note that is not `<name>.md` is found by its folders and its file's name, too. */
const wordsOfFile = ({ name, path }: EntryFile): string =>
  wordsOfName(name) + (path === entryPath(name) ? "" : ` ${decodedName(path).slice(0, -".md".length)}`);

function partsOf(file: EntryFile): string {
  const words = wordsOfFile(file).toLowerCase();
  return file.path.includes("%") ? asciiOf(words) : words;
}

/** The name, and its parts: an agent writes `editorTheme` and looks for the theme. */
function wordsOfName(name: string): string {
  const parts = name.replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, "$1$3 $2$4");
  return parts === name ? name : `${name} ${parts}`;
}

const ownKey = /^(?:name|description|type|created|updated):/;

/** What people have added to a front matter, such as tags. */
const otherFields = (frontMatter: string): string =>
  frontMatter
    .split("\n")
    .filter((line) => !ownKey.test(line))
    .join("\n");

function shown({ name, entry }: Searched, found: string): ShownEntry {
  const snippet = seen(found);
  const { type } = entry;
  const description = asIndexDescription(entry.description ?? "", name);
  return "body" in entry
    ? { name, type, description, updated: listedTime(entry.updated), snippet }
    : { name, type, description, updated: null, unreadable: entry.unreadable, snippet };
}

function offsetOf(cursor: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(cursor)) throw unknownCursor(cursor);
  return Number(cursor);
}
