/** Control characters, line and paragraph separators, bidirectional embeddings, overrides and isolates. */
export const breaksLine: RegExp = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

const everyLineBreaker = new RegExp(breaksLine, "gu");

/** Returns a text as one line of at most `charsMax` characters, or `otherwise` if nothing is left of it. */
export function oneLine(text: string, charsMax: number, otherwise: string): string {
  const line = text
    .slice(0, 4 * charsMax)
    .replaceAll(everyLineBreaker, " ")
    .toWellFormed()
    .trim();
  return Array.from(line).slice(0, charsMax).join("").trimEnd() || otherwise;
}
