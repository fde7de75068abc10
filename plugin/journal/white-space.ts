/**
 * White space as in agentool's language: the Unicode property White_Space. `String.prototype.trim` differs in two
 * characters: it removes U+FEFF and keeps U+0085. It is a hundred times as fast as a loop in the guest, so it runs
 * first. A loop handles texts with one of the two characters.
 */
const byteOrderMark = "\ufeff";
const nextLine = 0x85;

/** For a class in a regular expression. */
export const whiteSpace = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

export function trim(text: string): string {
  const ended = trimEnd(text);
  const trimmed = ended.trimStart();
  const start = ended.length - trimmed.length;
  if (trimmed.charCodeAt(0) !== nextLine && !ended.slice(0, start).includes(byteOrderMark)) return trimmed;
  let own = 0;
  while (own < ended.length && isWhiteSpace(ended.charCodeAt(own))) own++;
  return ended.slice(own);
}

export function trimEnd(text: string): string {
  const trimmed = text.trimEnd();
  const end = trimmed.length;
  if (trimmed.charCodeAt(end - 1) !== nextLine && !text.slice(end).includes(byteOrderMark)) return trimmed;
  let own = text.length;
  while (own > 0 && isWhiteSpace(text.charCodeAt(own - 1))) own--;
  return text.slice(0, own);
}

export function isWhiteSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x1680) return unit === 0x85 || unit === 0xa0;
  if (unit <= 0x200a) return unit === 0x1680 || unit >= 0x2000;
  return unit === 0x2028 || unit === 0x2029 || unit === 0x202f || unit === 0x205f || unit === 0x3000;
}
