import { pageLimits } from "../../shared/limits.ts";
import { visibleText } from "../values/visible-text.ts";

/** Fits into a line also where each character takes two columns. */
const wordCharsMax = 36;

/**
 * A sentence of a plugin's author, for text that is wrapped: without white space but single spaces, and without words
 * longer than a line. A terminal would go on with such a one where lines begin, as if what it says were the report's own.
 */
export function toldWords(text: string): string {
  const words = visibleText(text.slice(0, pageLimits.textCharsMax)).split(/\s+/u);
  const shown = words.map((word) => (word.length > wordCharsMax ? `${word.slice(0, wordCharsMax)}…` : word));
  return text.length > pageLimits.textCharsMax ? `${shown.join(" ")}…` : shown.join(" ");
}
