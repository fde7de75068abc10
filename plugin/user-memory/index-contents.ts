/** What a prompt's index can show: the lines of `MEMORY.md`, and the entries that have a file but no line there. */
import { summaryOf } from "./entry-summary.ts";
import { IndexFile, lineOf, nameOf } from "./index-file.ts";
import { inOrderOfCreation } from "./load-index.ts";
import type { EntryFile, EntrySummary } from "./newest-entries.ts";

/** A line of the index file. `name`: of the entry that it lists. */
export interface IndexLine {
  readonly text: string;
  readonly name: string | null;
}

/** Without any `<`, no line has a tag that ends the frame or seems to. */
const escape = (text: string): string => text.replaceAll("<", "&lt;");

/** The lines of an index file, escaped. */
export function linesIn(index: IndexFile | null): IndexLine[] {
  if (index === null) return [];
  return new IndexFile(escape(index.toString())).lines.map((text) => ({ text, name: nameOf(text) }));
}

export class IndexContents {
  /** All but those of entries that have no file. */
  readonly lines: readonly IndexLine[];
  /** By name, the first line of each entry. */
  readonly listed: ReadonlyMap<string, IndexLine>;
  readonly unlisted: readonly EntryFile[];
  readonly files: readonly EntryFile[];
  readonly #summaries = new Map<string, EntrySummary>();

  constructor(lines: readonly IndexLine[], files: readonly EntryFile[]) {
    const present = new Set(files.map(({ name }) => name));
    const listed = new Map<string, IndexLine>();
    this.files = files;
    this.lines = lines.filter(({ name }) => name === null || present.has(name));
    for (const line of this.lines) if (line.name !== null && !listed.has(line.name)) listed.set(line.name, line);
    this.listed = listed;
    this.unlisted = files.filter(({ name }) => !listed.has(name));
  }

  /** Whether a line shows an entry, and not for the second time. */
  isEntry(line: IndexLine): line is IndexLine & { readonly name: string } {
    return line.name !== null && this.listed.get(line.name) === line;
  }

  /** The entry's line. Reads the file of an entry that has none. */
  textFor(file: EntryFile): string {
    return this.listed.get(file.name)?.text ?? this.textOf(this.read(file));
  }

  textOf({ name, description }: Pick<EntrySummary, "name" | "description">): string {
    return this.listed.get(name)?.text ?? escape(lineOf(name, description));
  }

  /** Reads each file once. */
  readonly read = (file: EntryFile): EntrySummary => {
    const summary = this.#summaries.get(file.name) ?? summaryOf(file);
    this.#summaries.set(file.name, summary);
    return summary;
  };

  /** The names of those of the entries without a line that have one in `shown`, in the order that their lines would have. */
  unlistedIn(shown: ReadonlyMap<string, string>): string[] {
    const files = this.unlisted.filter(({ name }) => shown.has(name));
    return inOrderOfCreation(files.map(this.read)).map(({ name }) => name);
  }
}
