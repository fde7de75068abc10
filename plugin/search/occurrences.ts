import type { Term } from "./query.ts";
import { stemOf } from "./stem.ts";
import { isUnspaced, wordsIn, wordUnitsMax } from "./words.ts";

/** More than the part of a word that counts. */
const wordUnits = 100;

/** A place in a folded text where a word has the stem of a term. */
export interface Occurrence {
  readonly start: number;
  readonly end: number;
  /** The term's number. */
  readonly term: number;
}

/** A large text can repeat a word many times. The first ones are enough to show one. */
const occurrencesMax = 1000;

/** Returns the places of all terms, in order. */
export function occurrencesIn(folded: string, terms: readonly Term[]): Occurrence[] {
  return terms
    .flatMap((term, number) =>
      startsOf(folded, term).map((start) => ({ start, end: start + term.beginning.length, term: number })),
    )
    .toSorted((one, other) => one.start - other.start);
}

/** How often a folded text has a term. */
export const countOf = (folded: string, term: Term): number => startsOf(folded, term).length;

function startsOf(folded: string, { stem, beginning }: Term): number[] {
  const starts: number[] = [];
  const parts = folded.split(beginning, occurrencesMax);
  if (parts.length === 1) return starts;
  const isPair = isUnspaced(stem);
  let at = 0;
  // Only `split` finds all places in one pass that is not a loop of the guest.
  for (const before of parts) {
    at += before.length;
    if (at < folded.length && (isPair || hasStem(folded, at, stem))) starts.push(at);
    at += beginning.length;
  }
  return starts;
}

/** Whether the word at a place has the stem. */
function hasStem(folded: string, at: number, stem: string): boolean {
  const word = asciiWordAt(folded, at);
  if (word !== undefined) return word !== null && stemOf(word) === stem;
  const [before = ""] = wordsIn(Array.from(folded.slice(Math.max(0, at - 2), at)).at(-1) ?? "");
  if (before !== "" && !isUnspaced(before)) return false;
  return stemOf(wordsIn(folded.slice(at, at + wordUnits))[0] ?? "") === stem;
}

/**
 * The word that begins at a place, or `null` if none does; `undefined` next to a character beyond ASCII. A regular
 * expression takes ten times as long.
 */
function asciiWordAt(folded: string, at: number): string | null | undefined {
  const before = at === 0 ? space : folded.charCodeAt(at - 1);
  if (before > asciiMax) return undefined;
  if (isInWord(before)) return null;
  let end = at;
  while (end - at < wordUnitsMax && isInWord(folded.charCodeAt(end))) end++;
  return folded.charCodeAt(end) > asciiMax ? undefined : folded.slice(at, end);
}

const [space, asciiMax] = [0x20, 0x7f];

/** Of ASCII. The code of a place behind the text is `NaN`. */
const isInWord = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
