/**
 * Lists every entry of the index in order, with its description, for programs that show a user's memory.
 *
 * The tools write at most 1,000 entries, but people can add lines by hand. Entries after the 1,000th are left out.
 * 1,000 of the longest names with a quarter of each description (430 KB) always fit into an answer, so no other entry
 * is left out.
 */
import type { EntriesOutput } from "../../shared/roles.ts";
import { withinAnswer } from "../entry-list.ts";
import type { Answer } from "../serve-tool.ts";
import { entryLimits } from "./entry-limits.ts";
import { asIndexDescription, loadIndex } from "./memory-scope.ts";

export function listEntries(): Answer<EntriesOutput> {
  const found = loadIndex().entries.slice(0, entryLimits.entriesMax);
  const described = found.map(({ name, description }) => ({
    name,
    description: asIndexDescription(description, name),
  }));
  const entries = withinAnswer(described, entryLimits.descriptionCharsMax);
  return { message: `${entries.length} entries`, data: { entries } };
}
