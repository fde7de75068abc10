/**
 * White space as agentool's language means it: the Unicode property White_Space. `String.prototype.trim` differs in two
 * characters: it takes U+FEFF, and leaves U+0085.
 */

/** For a class in a regular expression. */
export const whiteSpace = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

export function trim(text: string): string {
  const end = trimmedEnd(text);
  let start = 0;
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start++;
  return text.slice(start, end);
}

export function trimEnd(text: string): string {
  return text.slice(0, trimmedEnd(text));
}

function trimmedEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isWhiteSpace(text.charCodeAt(end - 1))) end--;
  return end;
}

export function isWhiteSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x1680) return unit === 0x85 || unit === 0xa0;
  if (unit <= 0x200a) return unit === 0x1680 || unit >= 0x2000;
  return unit === 0x2028 || unit === 0x2029 || unit === 0x202f || unit === 0x205f || unit === 0x3000;
}
