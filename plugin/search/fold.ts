import { foldAscii, foldCase } from "../kit/caseless.ts";

/**
 * Folds a text, so that the forms of a word become equal: lower case, no accents, one form of each character. Only the
 * accents of Latin, Greek and Cyrillic letters go; in other scripts such marks tell words apart.
 */
export function fold(text: string): string {
  if (!beyondAscii.test(text)) return foldAscii(text);
  return foldCase(text.normalize("NFKD").replace(ignored, "")).replace(parts, (each) => each.normalize("NFC"));
}

const beyondAscii = /[^\0-\x7f]/;
/** Accents, and what a reader does not see inside a word: variation selectors, soft hyphens, joiners. */
const ignored = /[\u{300}-\u{36f}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}\u{ad}\u{200c}\u{2060}\u{feff}\u{200d}]/gu;
/**
 * Parts of Korean syllables and voiced Japanese characters. Only these are put together again, because pairs are made
 * of them: to compose the whole text takes as long as all the rest.
 */
const parts = /[\u{1100}-\u{11ff}]+|[\u{3040}-\u{30ff}](?:\u{3099}|\u{309a})/gu;
