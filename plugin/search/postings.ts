/**
 * The lines of an index file. A line has a stem, and the numbers of the rows whose entries have it, each with the
 * stem's weight if it is more than one:
 *
 *     deploy 0 2:3 17 ·
 *
 * A space ends each item, also the last. So a native search finds an item without cutting the text into lines.
 */
import { positionOf } from "./position-of.ts";

/** Begins and ends with a line end. */
export type PostingLines = string;

export const noPostings: PostingLines = "\n";

export interface Posting {
  readonly row: number;
  readonly weight: number;
}

export function postingsOf(lines: PostingLines, stem: string): Posting[] {
  const start = positionOf(lines, `\n${stem} `);
  if (start === -1) return [];
  return postingsIn(lines.slice(start + stem.length + 2, lines.indexOf("\n", start + 1)));
}

/** The postings of all stems that contain a character. An entry that has several of them is there several times. */
export function postingsContaining(lines: PostingLines, character: string): Posting[] {
  if (positionOf(lines, character) === -1) return [];
  const found = lines.split("\n").filter((line) => line.slice(0, line.indexOf(" ")).includes(character));
  return found.flatMap((line) => postingsIn(line.slice(line.indexOf(" ") + 1)));
}

function postingsIn(items: string): Posting[] {
  return items.split(" ").slice(0, -1).map(postingOf);
}

function postingOf(item: string): Posting {
  const colon = item.indexOf(":");
  if (colon === -1) return { row: Number(item), weight: 1 };
  return { row: Number(item.slice(0, colon)), weight: Number(item.slice(colon + 1)) };
}

/** Only built-in functions touch the whole text: a loop over the items takes ten times as long. */
export function withoutRows(lines: PostingLines, rows: readonly number[]): PostingLines {
  const rest = rows.reduce((text, row) => withoutWeighted(text.split(` ${row} `).join(" "), row), lines);
  return rows.length === 0 ? lines : rest.replace(/\n[^ \n]+ (?=\n)/g, "");
}

function withoutWeighted(lines: string, row: number): string {
  const [first = "", ...others] = lines.split(` ${row}:`);
  return first + others.map((other) => other.slice(other.indexOf(" "))).join("");
}

/** Adds rows that are not there yet, each with its stems and their weights. */
export function withRows(lines: PostingLines, rows: ReadonlyMap<number, ReadonlyMap<string, number>>): PostingLines {
  const added = new Map<string, string>();
  for (const [row, stems] of rows) {
    for (const [stem, weight] of stems) {
      added.set(stem, `${added.get(stem) ?? ""}${weight === 1 ? row : `${row}:${weight}`} `);
    }
  }
  if (added.size === 0) return lines;
  const present = lines.split("\n").map((line) => {
    const stem = line.slice(0, line.indexOf(" "));
    const items = added.get(stem);
    if (items === undefined) return line;
    added.delete(stem);
    return line + items;
  });
  return present.join("\n") + Array.from(added, ([stem, items]) => `${stem} ${items}\n`).join("");
}

/** The stems and weights of the given rows. */
export function weightsIn(lines: PostingLines, rows: readonly number[]): Map<number, Map<string, number>> {
  const found = new Map(rows.map((row) => [row, new Map<string, number>()]));
  for (const line of lines.split("\n")) {
    const stem = line.slice(0, line.indexOf(" "));
    for (const { row, weight } of postingsIn(line.slice(stem.length + 1))) found.get(row)?.set(stem, weight);
  }
  return found;
}
