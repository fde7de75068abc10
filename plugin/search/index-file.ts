/**
 * A file of a store's index. It says which entries have which words, so that a search reads only the entries that it
 * shows. The first line is the table of the entries in JSON, in which a free row is `null`; the others are the postings.
 */
import { cellsOf, rowOf } from "./index-row.ts";
import type { IndexRow } from "./index-row.ts";
import type { PostingLines } from "./postings.ts";

export interface IndexFile {
  readonly rows: readonly (IndexRow | null)[];
  readonly lines: PostingLines;
}

/** To be raised with every change of the form, of how words are made, and of a weight. */
const version = 3;
const about = "Search index of memcell. It is made from the entries and can be deleted.";

/** Returns `null` if the text is no index, or one of another version. */
export function readIndex(text: string): IndexFile | null {
  const end = text.indexOf("\n");
  const rows = end === -1 || !text.endsWith("\n") ? null : parseTable(text.slice(0, end));
  return rows && { rows, lines: text.slice(end) };
}

export function indexText({ rows, lines }: IndexFile): string {
  return `${JSON.stringify({ about, version, entries: rows.map((row) => row && cellsOf(row)) })}${lines}`;
}

function parseTable(json: string): (IndexRow | null)[] | null {
  try {
    const table = JSON.parse(json) as { version?: unknown; entries?: unknown } | null;
    return table?.version === version && Array.isArray(table.entries) ? table.entries.map(rowOf) : null;
  } catch {
    return null;
  }
}
