import type { Term } from "./query.ts";
import { stemOf } from "./stem.ts";
import { isUnspaced, wordsIn } from "./words.ts";

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

function startsOf(folded: string, { stem, beginning }: Term): number[] {
  const starts: number[] = [];
  let at = 0;
  // Only `split` finds all places in one pass that is not a loop of the guest.
  for (const before of folded.split(beginning, occurrencesMax)) {
    at += before.length;
    if (at < folded.length && hasStem(folded, at, stem)) starts.push(at);
    at += beginning.length;
  }
  return starts;
}

/** Whether the word at a place has the stem. */
function hasStem(folded: string, at: number, stem: string): boolean {
  if (isUnspaced(stem)) return true;
  const [before = ""] = wordsIn(Array.from(folded.slice(Math.max(0, at - 2), at)).at(-1) ?? "");
  if (before !== "" && !isUnspaced(before)) return false;
  return stemOf(wordsIn(folded.slice(at, at + wordUnits))[0] ?? "") === stem;
}
