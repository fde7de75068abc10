/** The memory folder: entries, and the index that lists them. */
import { Scope } from "../capabilities.ts";
import { ToolError } from "../tool-error.ts";
import { parseEntry } from "./entry-file.ts";
import type { Entry, Unreadable, YamlBudget } from "./entry-file.ts";
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

/** The same; `null` if a person has put more files there than the host lists. */
export function listUnlessTooMany(): EntryFile[] | null {
  try {
    return listEntryFiles();
  } catch (error) {
    if (error instanceof ToolError && error.code === "QUOTA_EXCEEDED") return null;
    throw error;
  }
}

/** The names of all entries that have a file, sorted. */
export const listEntryNames = (): string[] => listEntryFiles().map(({ name }) => name);

/** Returns the entry, the reason why its file cannot be read, or `null` if there is no file. */
export function loadEntry(name: string, budget: YamlBudget | null = null): Entry | Unreadable | null {
  let file: string | null;
  try {
    file = memory.read(entryPath(name));
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== "ENTRY_UNREADABLE") throw error;
    return { unreadable: "it is not UTF-8 text", description: name };
  }
  return file === null ? null : parseEntry(file, name, budget);
}

/** Like `loadEntry`, but also returns `null` for a file that the host refuses to open, such as a link. */
export function loadUnlessUnsafe(name: string, budget: YamlBudget | null = null): Entry | Unreadable | null {
  try {
    return loadEntry(name, budget);
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

/** Returns the index as it is; `null` if the file is missing or blank. */
export function storedIndex(): IndexFile | null {
  const text = memory.read(indexPath);
  return text === null || text.trim() === "" ? null : new IndexFile(text);
}
