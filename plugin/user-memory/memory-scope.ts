/** The memory folder as this family sees it: entries, and the index that lists them. */
import { Scope } from "../capabilities.ts";
import { oneLine } from "../one-line.ts";
import { ToolError } from "../tool-error.ts";
import { parseEntry } from "./entry-file.ts";
import type { Entry } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryNameAt, entryPath, indexPath } from "./entry-name.ts";
import { IndexFile } from "./index-file.ts";

export const memory: Scope = new Scope("memory");

/** The names of all entries that have a file, sorted. */
export function listEntryNames(): string[] {
  return memory
    .list()
    .map(({ path }) => entryNameAt(path))
    .filter((name) => name !== null);
}

/** An entry; why its file cannot be read; or `null` when there is no file. */
export function loadEntry(name: string): Entry | { unreadable: string } | null {
  let file: string | null;
  try {
    file = memory.read(entryPath(name));
  } catch (error) {
    // The host found bytes there that are no UTF-8 text: a file all the same.
    if (error instanceof ToolError && error.code === "ENTRY_UNREADABLE") return { unreadable: "it is not UTF-8 text" };
    throw error;
  }
  return file === null ? null : parseEntry(file);
}

/** As `loadEntry`, and `null` as well for what the host refuses to open: a link, say. */
export function loadUnlessUnsafe(name: string): Entry | { unreadable: string } | null {
  try {
    return loadEntry(name);
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

/** The index, made anew from the entries when there is none. */
export function loadIndex(): IndexFile {
  const text = memory.read(indexPath);
  return text === null || text.trim() === "" ? rebuildIndex() : new IndexFile(text);
}

/** Entries in the order they were created, which is the order their lines had. */
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

/** A description that a person may have edited, as one line within the limit. */
export function asIndexDescription(description: string, name: string): string {
  return oneLine(description, entryLimits.descriptionCharsMax, name);
}
