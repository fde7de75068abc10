import { plainLine } from "../kit/plain-line.ts";
import { foldAligned } from "./aligned-fold.ts";
import { occurrencesIn } from "./occurrences.ts";
import type { Occurrence } from "./occurrences.ts";
import type { Term } from "./query.ts";
import { searchLimits } from "./search-limits.ts";

const { snippetChars } = searchLimits;

/** A cut moves by at most so many characters to spare a word. */
const wordChars = 20;

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns one line of a value around the words that were found, or its beginning if only the key has them. Whoever shows
 * it makes hidden characters visible.
 */
export function snippetOf(value: string, terms: readonly Term[]): string {
  const text = value.trim();
  const { folded, originalOf } = foldAligned(text);
  const { start, end } = bestRange(occurrencesIn(folded, terms));
  const shown = rangeAround(text, { start: originalOf(start), end: originalOf(end) });
  const line = plainLine(text.slice(shown.start, shown.end)).replaceAll(/\s+/g, " ");
  return `${shown.start > 0 ? "…" : ""}${line}${shown.end < text.length ? "…" : ""}`;
}

/** The range within the length of a snippet that has the most different terms. Of equal ones, the first. */
function bestRange(occurrences: readonly Occurrence[]): Range {
  let best = { start: 0, end: 0, terms: 0 };
  let last = 0;
  const counts = new Map<number, number>();
  for (const { start, term } of occurrences) {
    for (let next = occurrences[last]; next && next.end - start <= snippetChars; next = occurrences[++last]) {
      counts.set(next.term, (counts.get(next.term) ?? 0) + 1);
    }
    const end = occurrences[last - 1]?.end ?? start;
    if (counts.size > best.terms) best = { start, end, terms: counts.size };
    const rest = (counts.get(term) ?? 1) - 1;
    if (rest > 0) counts.set(term, rest);
    else counts.delete(term);
  }
  return best;
}

/** Extends a range on both sides to the length of a snippet, and keeps whole words and characters. */
function rangeAround(text: string, { start, end }: Range): Range {
  const centred = start - Math.floor((snippetChars - (end - start)) / 2);
  const first = Math.max(0, Math.min(centred, text.length - snippetChars));
  const last = Math.min(text.length, first + snippetChars);
  return {
    start: first > 0 ? wordStart(text, first, start) : 0,
    end: last < text.length ? wordEnd(text, last, end) : last,
  };
}

function wordStart(text: string, first: number, latest: number): number {
  const space = text.slice(first, Math.min(first + wordChars, latest)).search(/\s/);
  const start = space === -1 ? first : first + space + 1;
  return isInsidePair(text, start) ? start + 1 : start;
}

function wordEnd(text: string, last: number, earliest: number): number {
  const from = Math.max(last - wordChars, earliest);
  const space = text.slice(from, last + 1).search(/\s\S*$/);
  const end = space === -1 ? last : from + space;
  return isInsidePair(text, end) ? end - 1 : end;
}

const isInsidePair = (text: string, at: number): boolean =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
