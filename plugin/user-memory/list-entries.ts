/**
 * Lists every entry as its file describes it, for programs that show a user's memory: first those of the index, in its
 * order, except those without a file; then those that have a file and no line.
 *
 * The tools write at most 1,000 entries, but people can add more by hand. Entries after the 1,000th are left out. 1,000
 * of the longest names with a quarter of each description (430 KB) always fit into an answer, so no other entry is left
 * out.
 */
import type { EntriesOutput } from "../../shared/roles.ts";
import { withinAnswer } from "../kit/entry-list.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryPath } from "./entry-name.ts";
import { describedIn, summaryOf } from "./entry-summary.ts";
import { asIndexDescription } from "./index-description.ts";
import type { IndexFile } from "./index-file.ts";
import { isSurely, nameIn, saidIn } from "./index-line.ts";
import { inOrderOfCreation } from "./load-index.ts";
import { listUnlessTooMany, shownPlace, storedIndex } from "./memory-scope.ts";
import type { EntryFile } from "./newest-entries.ts";

type ListedEntry = EntriesOutput["entries"][number];

export function listEntries(): Answer<EntriesOutput> {
  const files = listUnlessTooMany()?.files ?? null;
  const index = storedIndex();
  const said = index?.said ?? new Map<string, string>();
  const entries = files === null ? ofIndex(index) : ofFiles(files, said);
  const fitting = withinAnswer(entries, entryLimits.descriptionCharsMax);
  const shows = fitting.map(({ name, path }) => shownPlace(path ?? entryPath(name)));
  return { message: `${fitting.length} entries`, data: { entries: fitting }, shows };
}

/** Each entry has the description of its file. What its line says counts only if the file says nothing. */
function ofFiles(files: readonly EntryFile[], said: ReadonlyMap<string, string>): ListedEntry[] {
  const present = new Map(files.map((file) => [file.path, file]));
  const inIndex = Array.from(said.keys(), (path) => present.get(path)).filter((file) => file !== undefined);
  const shown = inIndex.slice(0, entryLimits.entriesMax);
  const others = files.filter(({ path }) => !said.has(path)).slice(0, entryLimits.entriesMax - shown.length);
  const ofShown = shown.map((file) => describedIn(file, said.get(file.path) ?? null));
  return [...ofShown, ...inOrderOfCreation(others.map(summaryOf))].map(({ name, path, description }) =>
    listed(name, path, description ?? asIndexDescription(said.get(path) ?? "", name)),
  );
}

/** Without a listing, because a person has put too many files there. */
const ofIndex = (index: IndexFile | null): ListedEntry[] =>
  Array.from(index?.listed.values() ?? [])
    .filter(isSurely)
    .slice(0, entryLimits.entriesMax)
    .map((line) => listed(nameIn(line), line.path, asIndexDescription(saidIn(line), nameIn(line))));

/** With the path of a note, which its name does not tell. */
const listed = (name: string, path: string, description: string): ListedEntry =>
  path === entryPath(name) ? { name, description } : { name, description, path };
