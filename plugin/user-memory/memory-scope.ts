/** The memory folder: entries, and the index that lists them. */
import { Scope } from "../capabilities.ts";
import { oneLine } from "../one-line.ts";
import { ToolError } from "../tool-error.ts";
import { parseEntry } from "./entry-file.ts";
import type { Entry } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryNameAt, entryPath, indexPath } from "./entry-name.ts";
import { IndexFile } from "./index-file.ts";
import type { EntryFile } from "./newest-entries.ts";

export const memory: Scope = new Scope("memory");

/** The files of all entries, sorted by path. */
export function listEntryFiles(): EntryFile[] {
  const files: EntryFile[] = [];
  for (const { path, bytes, changedUs = null } of memory.list()) {
    const name = entryNameAt(path);
    if (name !== null) files.push({ name, bytes, changedUs });
  }
  return files;
}

/** The names of all entries that have a file, sorted. */
export const listEntryNames = (): string[] => listEntryFiles().map(({ name }) => name);

/** Returns the entry, the reason why its file cannot be read, or `null` if there is no file. */
export function loadEntry(name: string): Entry | { unreadable: string } | null {
  let file: string | null;
  try {
    file = memory.read(entryPath(name));
  } catch (error) {
    // There is a file, but it is not UTF-8 text.
    if (error instanceof ToolError && error.code === "ENTRY_UNREADABLE") return { unreadable: "it is not UTF-8 text" };
    throw error;
  }
  return file === null ? null : parseEntry(file);
}

/** Like `loadEntry`, but also returns `null` for a file that the host refuses to open, such as a link. */
export function loadUnlessUnsafe(name: string): Entry | { unreadable: string } | null {
  try {
    return loadEntry(name);
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

/** Returns the index, built from the entries if the file is missing or blank. */
export function loadIndex(): IndexFile {
  const text = memory.read(indexPath);
  return text === null || text.trim() === "" ? rebuildIndex() : new IndexFile(text);
}

/** Sorts entries by creation, which is the order that their lines had. */
function rebuildIndex(): IndexFile {
  const found: { name: string; created: string; description: string }[] = [];
  for (const name of listEntryNames()) {
    const entry = loadUnlessUnsafe(name);
    if (entry === null || "unreadable" in entry) continue;
    found.push({ name, created: entry.created ?? "", description: asIndexDescription(entry.description, name) });
  }
  return IndexFile.of(found.toSorted(byCreation));
}

const byCreation = (a: { created: string; name: string }, b: { created: string; name: string }): number =>
  compare(a.created, b.created) || compare(a.name, b.name);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns a description, which a person may have edited, as one line within the limit; the name if it is blank. */
export function asIndexDescription(description: string, name: string): string {
  return oneLine(description, entryLimits.descriptionCharsMax, name);
}
