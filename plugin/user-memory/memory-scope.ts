/** The memory folder: entries, and the index that lists them. */
import { hasNul } from "../../shared/text.ts";
import { NoUtf8, Scope } from "../kit/capabilities.ts";
import { beginsWithNul, damaged, whyDamaged, withoutDamage } from "../kit/file-text.ts";
import { ToolError } from "../kit/tool-error.ts";
import { parseEntry, unreadableEntry } from "./entry-file.ts";
import type { Entry, Unreadable, YamlBudget } from "./entry-file.ts";
import { entryPath, indexPath } from "./entry-name.ts";
import { namesOf } from "./entry-names.ts";
import { IndexFile } from "./index-file.ts";
import { entryLineIn } from "./index-line.ts";
import type { EntryFile } from "./newest-entries.ts";

export const memory: Scope = new Scope("memory");

/** What an answer's `shows` calls an entry's file. */
export const shownPlace = (path: string): string => memory.place(path);

export interface FoundText {
  readonly text: string;
  /** Why not all of it can be read, as a clause about "it", with the line. */
  readonly damage: string | null;
}

/** The files of all entries, sorted by path. */
export const listEntryFiles = (): EntryFile[] => entryFilesAmong(memory.list());

export function entryFilesAmong(
  listed: readonly (Pick<EntryFile, "path" | "bytes"> & { readonly changedUs?: number | null | undefined })[],
): EntryFile[] {
  const names = namesOf(
    listed.map(({ path }) => path),
    () => storedIndex()?.titles ?? new Map<string, string>(),
  );
  const files: EntryFile[] = [];
  for (const { path, bytes, changedUs = null } of listed) {
    const name = names.get(path);
    if (name !== undefined) files.push({ name, path, bytes, changedUs });
  }
  return files;
}

/** The same, with the number of files that are no entries; `null` if a person has put more there than the host lists. */
export function listUnlessTooMany(): { readonly files: EntryFile[]; readonly unread: number } | null {
  try {
    const { entries, leftOut } = memory.listAll();
    const files = entryFilesAmong(entries);
    const others = entries.filter(({ path }) => path !== indexPath);
    return { files, unread: leftOut + others.length - files.length };
  } catch (error) {
    if (error instanceof ToolError && error.code === "QUOTA_EXCEEDED") return null;
    throw error;
  }
}

/** Reads a file as far as it can be read; `null` if there is none. */
export function readText(path: string): FoundText | null {
  try {
    const text = memory.read(path);
    return text === null ? null : beginsWithNul(text) ? damagedText(text) : { text, damage: null };
  } catch (error) {
    if (!(error instanceof NoUtf8)) throw error;
    return damagedText(error.readable);
  }
}

const damagedText = (readable: string | null): FoundText => ({
  text: readable === null || beginsWithNul(readable) ? "" : readable,
  damage: whyDamaged(readable),
});

/** Where an entry's file is, or would be, and the entry, the reason why the file cannot be read, or `null` if there is none. */
export function loadEntry(name: string): { readonly path: string; readonly entry: Entry | Unreadable | null } {
  const path = entryPath(name);
  const found = readText(path);
  if (found !== null) return { path, entry: entryIn(found, name, null) };
  const other = listUnlessTooMany()?.files.find((file) => file.name === name)?.path;
  return other === undefined ? { path, entry: null } : { path: other, entry: entryIn(readText(other), name, null) };
}

/** Like `readText`, but also returns `null` for a file that the host refuses to open, such as a link. */
export function readUnlessUnsafe(path: string): FoundText | null {
  try {
    return readText(path);
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

/** The entry in what was read. */
export function entryIn(found: FoundText | null, name: string, budget: YamlBudget | null): Entry | Unreadable | null {
  if (found === null) return null;
  return found.damage === null ? parseEntry(found.text, name, budget) : unreadableEntry(found.text, name, found.damage);
}

/** Returns the index as far as it can be read; `null` if the file is missing or blank. */
export function storedIndex(): IndexFile | null {
  const index = readIndex();
  return index?.damage === null && index.toString().trim() === "" ? null : index;
}

/** Returns the index as far as it can be read; `null` if there is no file. */
export function readIndex(): IndexFile | null {
  const found = readText(indexPath);
  if (found === null) return null;
  const { text } = found;
  const damage = found.damage ?? (hasNul(text) ? whyDamaged(text) : null);
  return new IndexFile(damage !== null && damaged.test(text) ? withoutDamage(text, headOf) : text, damage);
}

/** What a line says follows the entry's file, so the link is enough. */
function headOf(line: string): string | null {
  const head = entryLineIn(line)?.head ?? "";
  return head === "" || damaged.test(head) ? null : head + (/[\r\n]+$/.exec(line)?.[0] ?? "");
}
