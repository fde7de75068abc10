/** What a prompt's index can show: the lines of `MEMORY.md`, and the entries that have a file but no line there. */
import { entryPath } from "./entry-name.ts";
import { describedIn, summaryOf } from "./entry-summary.ts";
import type { IndexFile } from "./index-file.ts";
import { entryLineIn, isSurely, lineOf, nameIn, restOf, saidIn } from "./index-line.ts";
import { inOrderOfCreation } from "./load-index.ts";
import type { EntryFile, EntrySummary } from "./newest-entries.ts";

/** A line of the index file. */
export interface IndexLine {
  readonly text: string;
  /** Of the entry that it lists. */
  readonly name: string | null;
  /** The line up to the end of its link, and the entry's name if the link does not tell it. */
  readonly head: string;
  /** What it says of the entry, not escaped. */
  readonly said: string | null;
}

/** Without any `<`, no line has a tag that ends the frame or seems to. */
const escape = (text: string): string => text.replaceAll("<", "&lt;");

/** The lines of an index file, escaped. `files`: those of the entries, as far as they are known. */
export function linesIn(index: IndexFile | null, files: readonly EntryFile[] = []): IndexLine[] {
  const names = new Map(files.map(({ path, name }) => [path, name]));
  return withoutMarks(index?.lines ?? []).map((line) => {
    const found = entryLineIn(line);
    const name = found && (names.get(found.path) ?? (isSurely(found) ? nameIn(found) : null));
    // A person's title, and a path that a person has chosen, do not tell by which name to read it.
    const isTold = name === null || found?.title === name || found?.path === entryPath(name);
    return {
      text: escape(line),
      name,
      head: escape(found?.head ?? "") + (isTold ? "" : ` (${name})`),
      said: found && saidIn(found),
    };
  });
}

/**
 * Without the marks that git leaves around the lines of two machines, and without what both had before: all that they have
 * written counts.
 */
function withoutMarks(lines: readonly string[]): readonly string[] {
  if (!lines.some(beginsConflict)) return lines;
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const conflict = beginsConflict(line) ? conflictIn(lines, at + 1) : null;
    // One by one: a call takes 65,535 arguments, and a person's file can have more lines.
    for (const each of conflict?.written ?? [line]) kept.push(each);
    at = conflict?.end ?? at;
  }
  return kept;
}

const beginsConflict = (line: string): boolean => line.startsWith("<<<<<<< ");

/** The conflict whose first line is before `start`; `null` if it has not all of the marks: then it is a person's line. */
function conflictIn(
  lines: readonly string[],
  start: number,
): { readonly written: readonly string[]; readonly end: number } | null {
  let [base, middle] = [-1, -1];
  for (let at = start; at < lines.length; at++) {
    const line = lines[at] as string;
    if (beginsConflict(line)) return null;
    if (base < 0 && middle < 0 && /^\|{7}(?: |$)/.test(line)) base = at;
    else if (middle < 0 && line === "=======") middle = at;
    else if (middle >= 0 && /^>{7}(?: |$)/.test(line)) {
      const own = lines.slice(start, base < 0 ? middle : base);
      return { written: [...own, ...lines.slice(middle + 1, at)], end: at };
    }
  }
  return null;
}

export class IndexContents {
  /** All but those of entries that have no file, and but the further lines of an entry. */
  readonly lines: readonly IndexLine[];
  readonly files: readonly EntryFile[];
  /** By name, the line of each entry. */
  readonly #listed: ReadonlyMap<string, IndexLine>;
  readonly #unlisted: readonly EntryFile[];
  readonly #summaries = new Map<string, EntrySummary>();

  constructor(lines: readonly IndexLine[], files: readonly EntryFile[]) {
    const present = new Set(files.map(({ name }) => name));
    const listed = new Map<string, IndexLine>();
    for (const line of lines) {
      if (line.name !== null && present.has(line.name) && !listed.has(line.name)) listed.set(line.name, line);
    }
    this.files = files;
    this.lines = lines.filter((line) => line.name === null || listed.get(line.name) === line);
    this.#listed = listed;
    this.#unlisted = files.filter(({ name }) => !listed.has(name));
  }

  /**
   * The entry's line: a person's title, and what the entry's file says. Only if nothing of the file can be read, the line
   * stays as it is.
   */
  textOf({ name, path, description }: Pick<EntrySummary, "name" | "path" | "description">): string {
    const line = this.#listed.get(name);
    if (line === undefined) return escape(lineOf({ name, path, description: description ?? name }));
    return description === null ? line.text : line.head + escape(restOf(description));
  }

  /** The line of an entry of which only that is wanted. */
  lineFor(file: EntryFile): string {
    const said = this.#listed.get(file.name)?.said ?? null;
    const found = this.#summaries.get(file.name) ?? describedIn(file, said);
    if (found.updatedMs !== undefined) this.#summaries.set(file.name, found);
    return this.textOf(found);
  }

  /** What the index's lines are, before the files are read. */
  get listedTexts(): string[] {
    return Array.from(this.#listed.values(), ({ text }) => text);
  }

  /** Reads each file once. */
  readonly read = (file: EntryFile): EntrySummary => {
    const summary = this.#summaries.get(file.name) ?? summaryOf(file);
    this.#summaries.set(file.name, summary);
    return summary;
  };

  /** The names of those of the entries without a line that have one in `shown`, in the order that their lines would have. */
  unlistedIn(shown: ReadonlyMap<string, string>): string[] {
    const files = this.#unlisted.filter(({ name }) => shown.has(name));
    return inOrderOfCreation(files.map(this.read)).map(({ name }) => name);
  }
}
