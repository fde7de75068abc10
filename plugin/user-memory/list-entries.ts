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
import { describedIn, summaryOf } from "./entry-summary.ts";
import { asIndexDescription } from "./index-description.ts";
import { inOrderOfCreation } from "./load-index.ts";
import { listUnlessTooMany, shownPlace, storedIndex } from "./memory-scope.ts";
import type { EntryFile } from "./newest-entries.ts";

type ListedEntry = EntriesOutput["entries"][number];

export function listEntries(): Answer<EntriesOutput> {
  const files = listUnlessTooMany();
  const said = storedIndex()?.said ?? new Map<string, string>();
  const entries = files === null ? ofIndex(said) : ofFiles(files, said);
  const fitting = withinAnswer(entries, entryLimits.descriptionCharsMax);
  const shows = fitting.map(({ name }) => shownPlace(name));
  return { message: `${fitting.length} entries`, data: { entries: fitting }, shows };
}

/** Each entry has the description of its file. What its line says counts only if the file says nothing. */
function ofFiles(files: readonly EntryFile[], said: ReadonlyMap<string, string>): ListedEntry[] {
  const present = new Map(files.map((file) => [file.name, file]));
  const listed = Array.from(said.keys(), (name) => present.get(name)).filter((file) => file !== undefined);
  const shown = listed.slice(0, entryLimits.entriesMax);
  const others = files.filter(({ name }) => !said.has(name)).slice(0, entryLimits.entriesMax - shown.length);
  const ofShown = shown.map((file) => describedIn(file, said.get(file.name) ?? null));
  return [...ofShown, ...inOrderOfCreation(others.map(summaryOf))].map(({ name, description }) => ({
    name,
    description: description ?? asIndexDescription(said.get(name) ?? "", name),
  }));
}

/** Without a listing, because a person has put too many files there. */
const ofIndex = (said: ReadonlyMap<string, string>): ListedEntry[] =>
  Array.from(said)
    .slice(0, entryLimits.entriesMax)
    .map(([name, text]) => ({ name, description: asIndexDescription(text, name) }));
