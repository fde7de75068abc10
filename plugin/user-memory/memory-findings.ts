/** What may be wrong with a user's files, told so that a person understands it. */
import { entryLimits } from "../../shared/limits.ts";
import { utf8Bytes } from "../../shared/text.ts";
import type { MemoryFinding } from "../../shared/user-memory/inspect.ts";
import { ToolError } from "../tool-error.ts";
import type { Entry } from "./entry-file.ts";
import { entryPath, indexPath } from "./entry-name.ts";
import { IndexFile } from "./index-file.ts";
import { listEntryNames, loadEntry, memory } from "./memory-scope.ts";

/** A user's files as they are. */
export interface MemoryState {
  /** `null` when there is none, or when it is no text. */
  readonly index: IndexFile | null;
  readonly isIndexUnreadable: boolean;
  /** By name, in the order of names. An entry that the host refuses to open is `null`: it is the host's to report. */
  readonly entries: ReadonlyMap<string, Entry | { unreadable: string } | null>;
}

export function readMemory(): MemoryState {
  const entries = new Map(listEntryNames().map((name) => [name, loadUnlessUnsafe(name)]));
  try {
    const text = memory.read(indexPath);
    return { index: text === null ? null : new IndexFile(text), isIndexUnreadable: false, entries };
  } catch (error) {
    if (!(error instanceof ToolError && error.code === "ENTRY_UNREADABLE")) throw error;
    return { index: null, isIndexUnreadable: true, entries };
  }
}

export function findingsOf(state: MemoryState): MemoryFinding[] {
  return [...indexFindings(state), ...[...state.entries.keys()].flatMap((name) => entryFindings(state, name))];
}

function indexFindings({ index, isIndexUnreadable, entries }: MemoryState): MemoryFinding[] {
  if (isIndexUnreadable) {
    return [
      ofIndex(
        "index-unreadable",
        "the index is not UTF-8 text",
        "move it to the trash and make it anew from the entries",
      ),
    ];
  }
  if (index === null) {
    return entries.size === 0 ? [] : [ofIndex("index-missing", "there is no index", "make it from the entries")];
  }
  const orphans = index.names.filter((name) => !entries.has(name));
  return [
    ...orphans.map((name) =>
      ofIndex(
        "line-without-entry",
        `it lists "${name}", which has no file`,
        "take the line out; the index as it is now goes to the trash",
      ),
    ),
    ...index.repeatedNames.map((name) =>
      ofIndex(
        "line-repeated",
        `it lists "${name}" more than once`,
        "keep the first line; the index as it is now goes to the trash",
      ),
    ),
  ];
}

const ofIndex = (problem: MemoryFinding["problem"], message: string, remedy: string): MemoryFinding => ({
  problem,
  path: indexPath,
  message,
  remedy,
});

function entryFindings({ index, entries }: MemoryState, name: string): MemoryFinding[] {
  const entry = entries.get(name) ?? null;
  const of = (problem: MemoryFinding["problem"], message: string, remedy: string | null): MemoryFinding => ({
    problem,
    path: entryPath(name),
    message,
    remedy,
  });
  const found: MemoryFinding[] = [];
  const twin = [...entries.keys()].find((other) => other < name && other.toLowerCase() === name.toLowerCase());
  if (twin !== undefined) {
    found.push(of("names-differ-by-case", `its name differs from "${twin}" only by case`, null));
  }
  if (entry !== null && "unreadable" in entry) {
    // Whether it is listed is settled together with this.
    return [...found, of("entry-unreadable", entry.unreadable, remedyFor(name))];
  }
  if (entry !== null && utf8Bytes(entry.body) > entryLimits.bodyBytesMax) {
    const message = `its text is ${utf8Bytes(entry.body)} bytes, at most ${entryLimits.bodyBytesMax} can be read`;
    found.push(of("entry-too-large", message, null));
  }
  if (index && !index.has(name)) found.push(of("entry-without-line", "the index does not list it", "add its line"));
  return found;
}

/** A file that has readable text is kept as an entry; another one can only be put away. */
function remedyFor(name: string): string {
  const text = readText(name);
  return text === null || utf8Bytes(text) > entryLimits.bodyBytesMax
    ? "move it to the trash"
    : "give it the front matter that it lacks; the file as it is now goes to the trash";
}

/** A file's text, or `null` when it is none. */
export function readText(name: string): string | null {
  try {
    return memory.read(entryPath(name));
  } catch (error) {
    if (error instanceof ToolError && error.code === "ENTRY_UNREADABLE") return null;
    throw error;
  }
}

function loadUnlessUnsafe(name: string): Entry | { unreadable: string } | null {
  try {
    return loadEntry(name);
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}
