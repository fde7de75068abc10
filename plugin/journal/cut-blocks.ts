/**
 * Cuts a file into blocks, with the engine's own `split`: nothing that JavaScript does comes near its speed. A large file
 * is cut in portions, so that what hundreds of thousands of tiny blocks take is never there at once.
 */
import { journalLimits } from "./journal-limits.ts";

/** A heading's mark, and the end of the line before it. */
export const headingLine = "\n### ";

/** A part of a file that ends where a block ends. */
export interface Portion {
  /** Where it lies in the file. */
  readonly start: number;
  /** Behind one line end, so that a heading at its beginning is found as the others are. */
  readonly text: string;
}

export function portionsOf(file: string): Portion[] {
  const portions: Portion[] = [];
  let start = 0;
  while (start < file.length) {
    const heading = file.indexOf(headingLine, start + journalLimits.portionChars);
    const end = heading === -1 ? file.length : heading + 1;
    portions.push({ start, text: `\n${file.slice(start, end)}` });
    start = end;
  }
  return portions;
}

/**
 * What stands before the first heading of a text that begins with a line end, and then what stands behind each heading's
 * mark, up to the line end before the next.
 */
export function cutBlocks(text: string): string[] {
  return text.split(headingLine);
}
