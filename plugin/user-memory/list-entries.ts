/**
 * Lists every entry with its description, for programs that show a user's memory: first those of the index, in its
 * order and as it describes them, except those without a file; then those that have a file and no line.
 *
 * The tools write at most 1,000 entries, but people can add more by hand. Entries after the 1,000th are left out. 1,000
 * of the longest names with a quarter of each description (430 KB) always fit into an answer, so no other entry is left
 * out.
 */
import type { EntriesOutput } from "../../shared/roles.ts";
import { withinAnswer } from "../entry-list.ts";
import type { Answer } from "../serve-tool.ts";
import { entryLimits } from "./entry-limits.ts";
import { summaryOf } from "./entry-summary.ts";
import { asIndexDescription } from "./index-description.ts";
import { inOrderOfCreation } from "./load-index.ts";
import { listUnlessTooMany, storedIndex } from "./memory-scope.ts";

export function listEntries(): Answer<EntriesOutput> {
  const files = listUnlessTooMany();
  const present = files && new Set(files.map(({ name }) => name));
  const listed = (storedIndex()?.entries ?? [])
    .filter(({ name }) => present === null || present.has(name))
    .slice(0, entryLimits.entriesMax)
    .map(({ name, description }) => ({ name, description: asIndexDescription(description, name) }));
  const names = new Set(listed.map(({ name }) => name));
  const others = (files ?? []).filter(({ name }) => !names.has(name)).slice(0, entryLimits.entriesMax - listed.length);
  const unlisted = inOrderOfCreation(others.map(summaryOf)).map(({ name, description }) => ({ name, description }));
  const entries = withinAnswer([...listed, ...unlisted], entryLimits.descriptionCharsMax);
  return { message: `${entries.length} entries`, data: { entries } };
}
