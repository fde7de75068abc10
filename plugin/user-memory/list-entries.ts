/**
 * Every entry of the index, in its order: name and description, for programs that show a user's memory.
 *
 * Nobody can write more than 1,000 entries, but people can add lines by hand: of those, the first 1,000 are told and the
 * others left out. The answer has to fit into what a call may answer. When it would not, which takes a thousand long
 * descriptions beyond ASCII, all descriptions are cut to half of what they may be, or a quarter; no entry is lost by it.
 */
import { callLimits } from "../../shared/limits.ts";
import { utf8Bytes } from "../../shared/text.ts";
import type { Answer } from "../serve-tool.ts";
import { entryLimits } from "./entry-limits.ts";
import { asIndexDescription, loadIndex } from "./memory-scope.ts";
import type { ListEntriesOutput, MemoryEntry } from "./schemas/list-entries.ts";

/** What stands around the entries in an answer takes 60 bytes. */
const entriesBytesMax = callLimits.outputBytesMax - 256;

export function listEntries(): Answer<ListEntriesOutput> {
  const found = loadIndex().entries.slice(0, entryLimits.entriesMax);
  const described = found.map(({ name, description }) => ({
    name,
    description: asIndexDescription(description, name),
  }));
  const entries = withinAnswer(described);
  return { message: `${entries.length} entries`, data: { entries } };
}

/** A thousand of the longest names and a quarter of each description always fit: 430 KB. */
function withinAnswer(whole: readonly MemoryEntry[]): MemoryEntry[] {
  let entries = [...whole];
  let charsMax: number = entryLimits.descriptionCharsMax;
  while (utf8Bytes(JSON.stringify(entries)) > entriesBytesMax) {
    charsMax = Math.floor(charsMax / 2);
    entries = whole.map(({ name, description }) => ({ name, description: cutTo(charsMax, description) }));
  }
  return entries;
}

function cutTo(charsMax: number, description: string): string {
  const chars = Array.from(description);
  return chars.length <= charsMax ? description : `${chars.slice(0, charsMax - 1).join("")}…`;
}
