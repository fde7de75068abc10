/** Finds what is wrong with a user's files and describes it for a person. */
import type { InspectFinding } from "../../shared/roles.ts";
import { utf8Bytes } from "../../shared/text.ts";
import { hiddenFault, hiddenLineFault } from "../hidden-text.ts";
import { ToolError } from "../tool-error.ts";
import type { Entry, Unreadable } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryPath, indexPath } from "./entry-name.ts";
import { IndexFile } from "./index-file.ts";
import { loadUnlessUnsafe, memory } from "./memory-scope.ts";

export type MemoryProblem =
  | "index-missing"
  | "index-unreadable"
  | "index-unsafe"
  | "line-without-entry"
  | "line-repeated"
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
export type FoundEntry = FoundFacts | Unreadable;

interface FoundFacts extends Pick<Entry, "description" | "created" | "incomplete"> {
  readonly bodyBytes: number;
  /** Why a model does not get its text as it is; `null` if it does. */
  readonly hidden: string | null;
}

/** A user's files as they are. */
export interface MemoryState {
  /** `null` if there is no readable index. */
  readonly index: IndexFile | null;
  /** `unsafe`: the host refuses to open it, because it is a folder, a link or the like. */
  readonly indexKind: "text" | "missing" | "unreadable" | "unsafe";
  /** By name, sorted. `null` for an entry that the host refuses to open and reports itself. */
  readonly entries: ReadonlyMap<string, FoundEntry | null>;
}

/** `sizes`: the bytes of each entry's file, by name. */
export function readMemory(sizes: ReadonlyMap<string, number>): MemoryState {
  const entries = new Map(Array.from(sizes, ([name, bytes]) => [name, findEntry(name, bytes)]));
  const index = readIndex();
  return typeof index === "string" ? { index: null, indexKind: index, entries } : { index, indexKind: "text", entries };
}

function readIndex(): IndexFile | "missing" | "unreadable" | "unsafe" {
  try {
    const text = memory.read(indexPath);
    return text === null ? "missing" : new IndexFile(text);
  } catch (error) {
    if (error instanceof ToolError && error.code === "ENTRY_UNREADABLE") return "unreadable";
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return "unsafe";
    throw error;
  }
}

export function findingsOf(state: MemoryState): MemoryFinding[] {
  const twins = namesThatCaseTellsApart([...state.entries.keys()]);
  const ofEntries = [...state.entries.keys()].flatMap((name) => entryFindings(state, name, twins.get(name)));
  return [...indexFindings(state), ...ofEntries];
}

/** For each name, an earlier one that differs from it only by case. */
function namesThatCaseTellsApart(names: readonly string[]): Map<string, string> {
  const first = new Map<string, string>();
  const twins = new Map<string, string>();
  for (const name of names) {
    const earlier = first.get(name.toLowerCase());
    if (earlier === undefined) first.set(name.toLowerCase(), name);
    else twins.set(name, earlier);
  }
  return twins;
}

function indexFindings({ index, indexKind, entries }: MemoryState): MemoryFinding[] {
  if (indexKind === "unreadable") {
    return [
      ofIndex(
        "index-unreadable",
        "the index is not UTF-8 text",
        "move it to the trash and build a new one from the entries",
      ),
    ];
  }
  if (indexKind === "unsafe") return [ofIndex("index-unsafe", "the index is not a file that can be opened", null)];
  if (index === null) {
    return entries.size === 0 ? [] : [ofIndex("index-missing", "there is no index", "build it from the entries")];
  }
  const orphans = index.names.filter((name) => !entries.has(name));
  return [
    ...orphans.map((name) =>
      ofIndex(
        "line-without-entry",
        `it lists "${name}", which has no file`,
        "remove the line; the old index goes to the trash",
      ),
    ),
    ...index.repeatedNames.map((name) =>
      ofIndex(
        "line-repeated",
        `it lists "${name}" more than once`,
        "keep only the first line; the old index goes to the trash",
      ),
    ),
  ];
}

const ofIndex = (problem: MemoryProblem, message: string, remedy: string | null): MemoryFinding => ({
  problem,
  path: indexPath,
  message,
  remedy,
});

function entryFindings({ index, entries }: MemoryState, name: string, twin: string | undefined): MemoryFinding[] {
  const entry = entries.get(name) ?? null;
  const of = (problem: MemoryProblem, message: string, remedy: string | null): MemoryFinding => ({
    problem,
    path: entryPath(name),
    message,
    remedy,
  });
  const found: MemoryFinding[] = [];
  if (twin !== undefined) {
    found.push(of("names-differ-by-case", `its name differs from "${twin}" only by case`, null));
  }
  if (entry !== null && "unreadable" in entry) {
    const remedy = remedyFor(name);
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
  if (index && !index.has(name)) found.push(of("entry-without-line", "the index does not list it", "add its line"));
  return found;
}

/** A text becomes an entry, unless it is too large: then a person must mend it. What is no text can only go to the trash. */
function remedyFor(name: string): string | null {
  const text = readText(name);
  if (text === null) return "move it to the trash";
  if (utf8Bytes(text) > entryLimits.bodyBytesMax) return null;
  return "write front matter above all of it; the old file goes to the trash";
}

/** Returns a file's text, or `null` if it is missing or not text. */
export function readText(name: string): string | null {
  try {
    return memory.read(entryPath(name));
  } catch (error) {
    if (error instanceof ToolError && error.code === "ENTRY_UNREADABLE") return null;
    throw error;
  }
}

function findEntry(name: string, bytes: number): FoundEntry | null {
  const entry = loadUnlessUnsafe(name);
  if (entry === null || "unreadable" in entry) return entry;
  const { description, created, incomplete, headBytes, body } = entry;
  const hidden = hiddenLineFault("its description", description) ?? hiddenFault("its text", body);
  return { description, created, incomplete, bodyBytes: bytes - headBytes, hidden };
}
