/** Finds what is wrong with a user's files and describes it for a person. */
import { decodedName } from "../../shared/encoded-name.ts";
import type { InspectFinding } from "../../shared/roles.ts";
import { hasNul, utf8Bytes } from "../../shared/text.ts";
import { withoutDamage } from "../kit/file-text.ts";
import { splitFrontMatter, textBehindFrontMatter } from "../kit/front-matter.ts";
import { hiddenFault, hiddenLineFault } from "../kit/hidden-text.ts";
import { ToolError } from "../kit/tool-error.ts";
import type { Entry, Unreadable } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryPath, indexPath } from "./entry-name.ts";
import { isNoSummary } from "./entry-summary.ts";
import { asIndexDescription } from "./index-description.ts";
import type { IndexFile } from "./index-file.ts";
import { isSurely, nameIn } from "./index-line.ts";
import type { EntryLine } from "./index-line.ts";
import { entryIn, readUnlessUnsafe, readIndex, readText } from "./memory-scope.ts";
import type { FoundText } from "./memory-scope.ts";
import type { EntryFile } from "./newest-entries.ts";

export type MemoryProblem =
  | "index-missing"
  | "index-unreadable"
  | "index-unsafe"
  | "line-without-entry"
  | "line-repeated"
  | "line-differs"
  | "entry-without-line"
  | "entry-incomplete"
  | "entry-unreadable"
  | "entry-too-large"
  | "hidden-character"
  | "names-differ-by-case"
  | "file-unused";

export interface MemoryFinding extends InspectFinding {
  readonly problem: MemoryProblem;
}

/**
 * The facts about an entry that the checks need. Its text is not kept: 1,000 of the largest do not fit into a guest's
 * memory.
 */
export type FoundEntry = FoundFacts | Omit<Unreadable, "text">;

interface FoundFacts extends Pick<Entry, "description" | "created" | "incomplete"> {
  readonly bodyBytes: number;
  /** Why a model does not get its text as it is; `null` if it does. */
  readonly hidden: string | null;
}

/** A user's files as they are. */
export interface MemoryState {
  /** As far as it can be read; `null` if there is none. */
  readonly index: IndexFile | null;
  /** By path, what its lines say of each entry. */
  readonly said: ReadonlyMap<string, string>;
  /** Whether the host refuses to open it, because it is a folder, a link or the like. */
  readonly isIndexUnsafe: boolean;
  /** By path, sorted. `null` for an entry that the host refuses to open and reports itself, or that nobody has asked for. */
  readonly entries: ReadonlyMap<string, FoundEntry | null>;
  /** By path. */
  readonly names: ReadonlyMap<string, string>;
}

/** `incoming`: of the entries that were there before, only those without a line are read: the index is to get one. */
export function readMemory(files: readonly EntryFile[], incoming?: ReadonlySet<string>): MemoryState {
  const opened = openIndex();
  const isIndexUnsafe = opened === "unsafe";
  const index = isIndexUnsafe ? null : opened;
  const said = index?.said ?? new Map<string, string>();
  const isRead = (path: string): boolean => incoming === undefined || incoming.has(path) || !said.has(path);
  const entries = new Map(files.map((file) => [file.path, isRead(file.path) ? findEntry(file) : null]));
  const names = new Map(files.map(({ path, name }) => [path, name]));
  return { index, said, isIndexUnsafe, entries, names };
}

/** When an entry was created, as its file says; empty if that says nothing. */
export function createdIn({ entries, names }: MemoryState, path: string): string {
  const name = names.get(path);
  const entry = entries.get(path) ?? (name === undefined ? null : entryIn(readUnlessUnsafe(path), name, null));
  return entry === null || "unreadable" in entry ? "" : (entry.created ?? "");
}

function openIndex(): IndexFile | null | "unsafe" {
  try {
    return readIndex();
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return "unsafe";
    throw error;
  }
}

export function findingsOf(state: MemoryState): MemoryFinding[] {
  const twins = namesThatCaseTellsApart([...state.entries.keys()]);
  const ofEntries = [...state.entries.keys()].flatMap((path) => entryFindings(state, path, twins.get(path)));
  return [...indexFindings(state), ...ofEntries];
}

/** For each path, an earlier one that differs from it only by case. */
function namesThatCaseTellsApart(paths: readonly string[]): Map<string, string> {
  const first = new Map<string, string>();
  const twins = new Map<string, string>();
  for (const path of paths) {
    const folded = decodedName(path).toLowerCase();
    const earlier = first.get(folded);
    if (earlier === undefined) first.set(folded, path);
    else twins.set(path, earlier);
  }
  return twins;
}

/** Lines of entries without a file. */
export const orphansIn = (index: IndexFile, { entries }: Pick<MemoryState, "entries">): EntryLine[] =>
  Array.from(index.listed.values()).filter((line) => !entries.has(line.path) && isSurely(line));

function indexFindings({ index, isIndexUnsafe, said, entries, names }: MemoryState): MemoryFinding[] {
  if (isIndexUnsafe) return [ofIndex("index-unsafe", "the index is not a file that can be opened", null)];
  if (index === null) {
    return entries.size === 0 ? [] : [ofIndex("index-missing", "there is no index", "build it from the entries")];
  }
  if (index.damage !== null) {
    const remedy = "move it to the trash; write what can be read of it, and a line for each entry";
    return [ofIndex("index-unreadable", index.damage, remedy)];
  }
  const nameAt = (path: string): string => names.get(path) ?? decodedName(path).replace(/\.md$/, "");
  return [
    ...orphansIn(index, { entries }).map((line) =>
      ofIndex(
        "line-without-entry",
        `it lists "${nameIn(line)}", which has no file`,
        "remove the line; the old index goes to the trash",
      ),
    ),
    ...index.repeated.map((path) =>
      ofIndex(
        "line-repeated",
        `it lists "${nameAt(path)}" more than once`,
        "keep only the first line; the old index goes to the trash",
      ),
    ),
    ...Array.from(said).flatMap(([path, text]) => {
      const name = nameAt(path);
      if (!isOther(text, entries.get(path) ?? null, name)) return [];
      const message = `what it says of "${name}" is not what the entry's file says`;
      return ofIndex("line-differs", message, "write what the file says; the old index goes to the trash");
    }),
  ];
}

/** Whether a line says something of an entry that the entry's file does not say. */
export function isOther(said: string, entry: Pick<FoundEntry, "description"> | null, name: string): boolean {
  if (said === "" || entry === null || entry.description === null || said === entry.description) return false;
  return asIndexDescription(said, name) !== asIndexDescription(entry.description, name);
}

const ofIndex = (problem: MemoryProblem, message: string, remedy: string | null): MemoryFinding => ({
  problem,
  path: indexPath,
  message,
  remedy,
});

function entryFindings(state: MemoryState, path: string, twin: string | undefined): MemoryFinding[] {
  const { index, said, entries, names } = state;
  const entry = entries.get(path) ?? null;
  const name = names.get(path) ?? "";
  const named = path === entryPath(name) ? "" : ` (entry "${name}")`;
  const of = (problem: MemoryProblem, message: string, remedy: string | null): MemoryFinding => ({
    problem,
    path,
    message: message + named,
    remedy,
  });
  const found: MemoryFinding[] = [];
  if (twin !== undefined) {
    found.push(
      of(
        "names-differ-by-case",
        `its name differs from "${decodedName(twin).replace(/\.md$/, "")}" only by case`,
        null,
      ),
    );
  }
  if (entry !== null && "unreadable" in entry) {
    const remedy = remedyFor(path);
    found.push(of("entry-unreadable", entry.unreadable, remedy));
    // Mending this also adds or removes its line.
    if (remedy !== null) return found;
  } else if (entry !== null && entry.bodyBytes > entryLimits.bodyBytesMax) {
    const message = `its text is ${entry.bodyBytes} bytes, at most ${entryLimits.bodyBytesMax} can be read`;
    found.push(of("entry-too-large", message, null));
  } else if (entry !== null && entry.incomplete !== null) {
    found.push(of("entry-incomplete", entry.incomplete, "add what is missing; the old file goes to the trash"));
  }
  if (entry !== null && "hidden" in entry && entry.hidden !== null)
    found.push(of("hidden-character", entry.hidden, null));
  if (index?.damage === null && !said.has(path))
    found.push(of("entry-without-line", "the index does not list it", "add its line"));
  return found;
}

/** What can be read becomes an entry, unless it is too large: then a person must mend it. The rest can only go to the trash. */
function remedyFor(path: string): string | null {
  const found = readableText(path);
  if (found === null) return "move it to the trash";
  if (utf8Bytes(found.text) > entryLimits.bodyBytesMax) return null;
  if (found.damage !== null) return "write what can be read of it as UTF-8; the old file goes to the trash";
  if (withoutNulInFront(found.text) !== null)
    return "write its front matter again without the NUL bytes; the old file goes to the trash";
  return "write front matter above all of it; the old file goes to the trash";
}

/**
 * The text with U+FFFD in place of the NUL bytes of its front matter, as of other bytes that cannot be read; `null` if
 * they are not all that is wrong with it.
 */
export function withoutNulInFront(text: string): string | null {
  const body = textBehindFrontMatter(text);
  const front = text.slice(0, text.length - body.length);
  if (!hasNul(front)) return null;
  const mended = front.replaceAll(/\0+/g, "\ufffd") + body;
  return splitFrontMatter(mended) === null ? null : mended;
}

/** Returns what can be read of a file, or `null` if it is missing or nothing can be read. */
export function readableText(path: string): FoundText | null {
  const found = readText(path);
  if (found === null || found.damage === null) return found;
  return withoutDamage(found.text).trim() === "" ? null : found;
}

function findEntry({ name, path, bytes }: EntryFile): FoundEntry | null {
  const entry = entryIn(readUnlessUnsafe(path), name, null);
  if (entry === null) return null;
  if ("unreadable" in entry) {
    const { text: _, ...facts } = entry;
    return isNoSummary(bytes) ? { ...facts, description: null } : facts;
  }
  const { description, created, incomplete, headBytes, body } = entry;
  const hidden = hiddenLineFault("its description", description) ?? hiddenFault("its text", body);
  return { description, created, incomplete, bodyBytes: bytes - headBytes, hidden };
}
