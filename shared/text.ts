/** Questions about text that both sides of the sandbox ask, without `Buffer` or `TextEncoder`. */

/** The bytes a string takes in UTF-8. A lone surrogate counts three, as the replacement character would. */
export function utf8Bytes(text: string): number {
  // One look by the regular expression engine costs the guest a tenth of the loop.
  if (!beyondAscii.test(text)) return text.length;
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    const isPair = (unit & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
    bytes += unit < 0x800 ? 1 : 2;
    if (isPair) index++;
  }
  return bytes;
}

const beyondAscii = /[^\0-\x7f]/;

/** Whether a string takes more than so many bytes in UTF-8; counts only what may. */
export function exceedsUtf8Bytes(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && utf8Bytes(text) > bytesMax;
}

/** Whether a string holds the character NUL. The guest's engine cuts text three times as fast as it searches it. */
export function hasNul(text: string): boolean {
  return text.split("\0", 2).length > 1;
}

/** Whether a string holds half of a surrogate pair, which no UTF-8 file can store. */
export function hasLoneSurrogate(text: string): boolean {
  return !text.isWellFormed();
}

/** The number of Unicode code points, as JSON Schema counts `maxLength`. */
export function codePoints(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** How deep arrays and objects stand inside each other in a JSON text, without parsing it; in one pass. */
export function jsonDepth(json: string): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') isInString = !isInString;
    else if (isInString && character === "\\") at++;
    else if (!isInString && (character === "[" || character === "{")) deepest = Math.max(deepest, ++depth);
    else if (!isInString && (character === "]" || character === "}")) depth--;
  }
  return deepest;
}

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}"\\]/gu;

/**
 * A string as an error message shows it: in double quotes, at most 60 code points of it, and everything that could
 * break a line, hide or turn text around written as an escape.
 */
export function quoted(text: string, codePointsMax = 60): string {
  const shown = Array.from(text.slice(0, codePointsMax * 2)).slice(0, codePointsMax);
  const escaped = shown.join("").replace(unprintable, escapeCharacter);
  return shown.join("").length < text.length ? `"${escaped}…"` : `"${escaped}"`;
}

function escapeCharacter(character: string): string {
  if (character === '"' || character === "\\") return `\\${character}`;
  if (character === "\n") return "\\n";
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}
