/**
 * Bounds of front matter, checked before the YAML library gets it. The library's time grows with the square of blank
 * lines, and its stack with the depth.
 */
export const frontMatterLimits = {
  charsMax: 16_384,
  linesMax: 256,
  /** White space in a row, line ends included. */
  whiteSpaceMax: 1_024,
  /** Nested brackets. */
  bracketsMax: 32,
  /** Indentation and list marks before a line's text. */
  indentMax: 64,
} as const;

/** Why a front matter is refused, as a clause about the front matter; `null` if it is within the bounds. */
export function whyTooLarge(text: string): string | null {
  const { charsMax, linesMax, whiteSpaceMax, bracketsMax, indentMax } = frontMatterLimits;
  if (text.length > charsMax) return `has ${text.length} characters, at most ${charsMax} allowed`;
  const lines = text.split("\n");
  if (lines.length > linesMax + 1) return `has ${lines.length - 1} lines, at most ${linesMax} allowed`;
  // A shorter text, as nearly all are, needs no look at its characters, which takes the guest's engine long.
  if (text.length > whiteSpaceMax && longestWhiteSpace(text) > whiteSpaceMax)
    return `has over ${whiteSpaceMax} characters of white space in a row`;
  if (deepestBrackets(text) > bracketsMax) return `has over ${bracketsMax} nested brackets`;
  if (lines.some((line) => line.length > indentMax && line.search(/[^ \t?:-]|$/) > indentMax)) {
    return `has a line that is indented by over ${indentMax} characters`;
  }
  return null;
}

function longestWhiteSpace(text: string): number {
  let [longest, present] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    present = isWhiteSpace(text.charCodeAt(at)) ? present + 1 : 0;
    longest = Math.max(longest, present);
  }
  return longest;
}

/** As `\s` of a regular expression, which the library uses. */
const isWhiteSpace = (code: number): boolean =>
  code <= 0x20 ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : code >= 0xa0 && /\s/.test(String.fromCharCode(code));

function deepestBrackets(text: string): number {
  let [deepest, present] = [0, 0];
  for (const bracket of text.match(/[[\]{}]/g) ?? []) {
    present += bracket === "[" || bracket === "{" ? 1 : -1;
    deepest = Math.max(deepest, present);
  }
  return deepest;
}
