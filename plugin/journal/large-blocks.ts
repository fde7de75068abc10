/** Finds the blocks of a file that are too large to be shown. They are few; all others are skipped without parsing. */
import { headingLine } from "./cut-blocks.ts";
import { journalLimits } from "./journal-limits.ts";
import { StoredBlock } from "./stored-block.ts";

export function largeBlocksIn(file: string): StoredBlock[] {
  const text = `\n${file.startsWith("\ufeff") ? file.slice(1) : file}`;
  const reach = headingLine.length + journalLimits.blockCharsMax;
  const found: StoredBlock[] = [];
  let at = text.indexOf(headingLine);
  while (at !== -1 && at + reach < text.length) {
    // No block between two headings within this distance is too large.
    const last = text.lastIndexOf(headingLine, at + reach);
    if (last > at) {
      at = last;
      continue;
    }
    const next = text.indexOf(headingLine, at + reach);
    const block = new StoredBlock(text.slice(at + headingLine.length, next === -1 ? text.length : next));
    if (block.key !== "") found.push(block);
    at = next;
  }
  return found;
}
