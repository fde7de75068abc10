/**
 * Text without the differences of case, as near to Unicode's full case folding as ECMAScript comes: to upper case and
 * back, with one form of sigma. `ß` is `ss` then, and `ﬁ` is `fi`. The capital `ẞ` is the one letter that would not come
 * to where its small form does.
 */
export function foldCase(text: string): string {
  return text.replaceAll("ẞ", "ß").toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

/** The same of a text that is all ASCII, in half the time. */
export function foldAscii(text: string): string {
  return text.toLowerCase();
}
