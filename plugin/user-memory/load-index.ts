/** The index for tools that write it, and the order of its lines. */
import { entryLimits } from "./entry-limits.ts";
import { summaryOf } from "./entry-summary.ts";
import { IndexFile } from "./index-file.ts";
import { listEntryFiles, storedIndex } from "./memory-scope.ts";

/**
 * Returns the index, built from the entries if the file is missing or blank. A call can read only some thousands of
 * files, and people can put more there.
 */
export function loadIndex(): IndexFile {
  const stored = storedIndex();
  if (stored !== null) return stored;
  const files = listEntryFiles().slice(0, 2 * entryLimits.entriesMax);
  return IndexFile.of(inOrderOfCreation(files.map(summaryOf)));
}

/** Sorts entries without a line by creation, which is the order that lines have. Those without a time are first. */
export function inOrderOfCreation<Entry extends { name: string; created: string | null }>(
  entries: readonly Entry[],
): Entry[] {
  return entries.toSorted((a, b) => compare(a.created ?? "", b.created ?? "") || compare(a.name, b.name));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
