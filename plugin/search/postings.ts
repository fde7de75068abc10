/**
 * The lines of an index file. A line has a stem, and the numbers of the rows whose entries have it, each with the
 * stem's weight if it is more than one:
 *
 *     deploy 0 2:3 17 ·
 *
 * A space ends each item, also the last. So a native search finds an item without cutting the text into lines. The
 * lines are sorted by stem.
 */
/** Begins and ends with a line end. */
export type PostingLines = string;

export const noPostings: PostingLines = "\n";

export interface Posting {
  readonly row: number;
  readonly weight: number;
}

/** Halves the text until the line is found: a pass over the whole text for each word of a query takes five times as long. */
export function postingsOf(lines: PostingLines, stem: string): Posting[] {
  let [low, high] = [1, lines.length];
  while (low < high) {
    const start = lines.lastIndexOf("\n", Math.floor((low + high) / 2) - 1) + 1;
    const end = lines.indexOf("\n", start);
    const space = lines.indexOf(" ", start);
    const found = lines.slice(start, space);
    if (found === stem) return postingsIn(lines.slice(space + 1, end));
    if (found < stem) low = end + 1;
    else high = start;
  }
  return [];
}

/** The postings of all stems that contain a character. An entry that has several of them is there several times. */
export function postingsContaining(lines: PostingLines, character: string): Posting[] {
  const found: Posting[][] = [];
  let [at, end] = [0, 0];
  // Goes from place to place, because a loop over the lines takes far longer than a native search.
  for (const before of lines.split(character).slice(0, -1)) {
    at += before.length;
    if (at >= end) {
      end = lines.indexOf("\n", at);
      found.push(postingsIn(lines.slice(lines.indexOf(" ", at) + 1, end)));
    }
    at += character.length;
  }
  return found.flat();
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
  const merged: string[] = [];
  const present = lines === noPostings ? [] : lines.slice(1, -1).split("\n");
  let at = 0;
  for (const stem of [...added.keys()].toSorted()) {
    for (; at < present.length && stemIn(present[at]) < stem; at++) merged.push(present[at] ?? "");
    const line = stemIn(present[at]) === stem ? present[at++] : `${stem} `;
    merged.push(`${line}${added.get(stem)}`);
  }
  return `\n${[...merged, ...present.slice(at)].join("\n")}\n`;
}

const stemIn = (line = ""): string => line.slice(0, line.indexOf(" "));

/** The stems and weights of the given rows. */
export function weightsIn(lines: PostingLines, rows: readonly number[]): Map<number, Map<string, number>> {
  const found = new Map(rows.map((row) => [row, new Map<string, number>()]));
  for (const line of lines.split("\n")) {
    const stem = stemIn(line);
    for (const { row, weight } of postingsIn(line.slice(stem.length + 1))) found.get(row)?.set(stem, weight);
  }
  return found;
}
