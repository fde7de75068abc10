/** The index for tools that write it, and the order of its lines. */
import type { Entry, Unreadable } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { indexPath } from "./entry-name.ts";
import { summaryOf } from "./entry-summary.ts";
import { asIndexDescription } from "./index-description.ts";
import { IndexFile } from "./index-file.ts";
import { listEntryFiles, memory, storedIndex } from "./memory-scope.ts";

/**
 * Returns the index, built from the entries if the file is missing or blank. Of a damaged one, the lines that can be read
 * stay, and it lists every entry again as its file describes it. A call can read only some thousands of files, and people can put more there.
 */
export function loadIndex(): IndexFile {
  const stored = storedIndex();
  if (stored !== null && stored.damage === null) return stored;
  const files = listEntryFiles().slice(0, 2 * entryLimits.entriesMax);
  const listed = inOrderOfCreation(files.map(summaryOf)).map(({ name, path, description }) => ({
    name,
    path,
    description: description ?? name,
  }));
  if (stored === null) return IndexFile.of(listed);
  const { said } = stored;
  for (const entry of listed) {
    if (said.has(entry.path) && said.get(entry.path) !== entry.description) stored.set(entry);
  }
  stored.add(listed.filter(({ path }) => !said.has(path)));
  return stored;
}

/**
 * Writes the index. If the old one has words that are not in the new one, it goes to the trash first. Returns a clause
 * about that for the answer of a tool, or nothing.
 */
export function saveIndex(index: IndexFile): string {
  const trashed = index.isLosing ? memory.trash(indexPath) : null;
  memory.write(indexPath, index.toString());
  if (trashed === null) return "";
  const why = index.damage === null ? "had other words" : "could not be read as a whole";
  return `; the previous index ${why} and is now ${trashed}`;
}

/** What a tool has written into the line of an entry; `null` if nothing tells that. */
export const describedBy = (entry: Entry | Unreadable | null, name: string): string | null =>
  entry !== null && "body" in entry ? asIndexDescription(entry.description, name) : null;

/** Sorts entries without a line by creation, which is the order that lines have. Those without a time are first. */
export function inOrderOfCreation<Listed extends { name: string; created: string | null }>(
  entries: readonly Listed[],
): Listed[] {
  return entries.toSorted((a, b) => compare(a.created ?? "", b.created ?? "") || compare(a.name, b.name));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
