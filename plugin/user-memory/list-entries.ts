/**
 * Every entry of the index, in its order: name and description, for programs that show a user's memory.
 *
 * Nobody can write more than 1,000 entries, but people can add lines by hand: of those, the first 1,000 are told and the
 * others left out. A thousand of the longest names and a quarter of each description always fit into an
 * answer, 430 KB, so that no entry is lost by that.
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
