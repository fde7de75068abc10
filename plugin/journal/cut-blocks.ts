/**
 * Cuts a file into blocks with the engine's own `split`, which is far faster than code in JavaScript. A large file is
 * cut in portions, so that hundreds of thousands of tiny blocks are never in memory at once.
 */
import { journalLimits } from "./journal-limits.ts";

/** The end of the previous line, and a heading's mark. */
export const headingLine = "\n### ";

/** A part of a file that ends where a block ends. */
export interface Portion {
  /** Its offset in the file. */
  readonly start: number;
  /** It begins with an extra line end, so that a heading at its start is found like the others. */
  readonly text: string;
}

/** A byte order mark at the file's start is no part of the first heading: editors put it there. */
export function portionsOf(file: string): Portion[] {
  const portions: Portion[] = [];
  let start = file.startsWith("\ufeff") ? 1 : 0;
  while (start < file.length) {
    const heading = file.indexOf(headingLine, start + journalLimits.portionChars);
    const end = heading === -1 ? file.length : heading + 1;
    portions.push({ start, text: `\n${file.slice(start, end)}` });
    start = end;
  }
  return portions;
}

/**
 * Cuts a text that begins with a line end. Returns the text before the first heading, and then for each heading the
 * text from its mark up to the line end before the next heading.
 */
export function cutBlocks(text: string): string[] {
  return text.split(headingLine);
}
