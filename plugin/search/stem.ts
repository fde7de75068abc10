import { stopWords } from "./stop-words.ts";

/** A shorter rest says too little. */
const lettersMin = 3;

/**
 * Returns a word without the endings of English plurals and verbs. It is gentle: what is left has at least three
 * letters, and most of it is a word.
 */
export function stemOf(word: string): string {
  // Most words end here: this check takes a tenth of the others' time.
  if (!ending.test(word) || stopWords.has(word)) return word;
  return withoutE(withoutVerbEnding(withoutPlural(word)));
}

const ending = /^[a-z]{3,}[sdge]$/;

function withoutPlural(word: string): string {
  if (!word.endsWith("s") || /(?:ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies")) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  return /(?:..[sxz]|.ch|.sh)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}

function withoutVerbEnding(word: string): string {
  if (word.endsWith("ied") && word.length > 4) return `${word.slice(0, -3)}y`;
  const rest = word.endsWith("ing") ? word.slice(0, -3) : /[^e]ed$/.test(word) ? word.slice(0, -2) : "";
  if (rest.length < lettersMin || !/[aeiouy]/.test(rest)) return word;
  return rest.length > lettersMin && /([bdfgmnprt])\1$/.test(rest) ? rest.slice(0, -1) : rest;
}

/** "make" and "making" have no `e` in common. */
function withoutE(word: string): string {
  return word.endsWith("e") && word.length > lettersMin ? word.slice(0, -1) : word;
}

/** What every word of a stem begins with: the `y` can come from "ies" or "ied". */
export function beginningOf(stem: string): string {
  return stem.length > lettersMin && stem.endsWith("y") ? stem.slice(0, -1) : stem;
}
