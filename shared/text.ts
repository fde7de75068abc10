/** Text functions for host and guest, without `Buffer` or `TextEncoder`. */

/** The bytes of a string in UTF-8. A lone surrogate counts as three, like the replacement character. */
export function utf8Bytes(text: string): number {
  // In the guest, regular expressions take a tenth of a loop's time.
  if (!beyondAscii.test(text)) return text.length;
  const ofSeveralBytes = text.replaceAll(ascii, "");
  const ofThree = ofSeveralBytes.replaceAll(twoBytes, "");
  const pairs = surrogate.test(ofThree) ? text.length - text.replaceAll(surrogatePair, "x").length : 0;
  return text.length + ofSeveralBytes.length + ofThree.length - 2 * pairs;
}

const beyondAscii = /[^\0-\x7f]/;
const ascii = /[\0-\x7f]+/g;
const twoBytes = /[\x80-\u07ff]+/g;
const surrogate = /[\ud800-\udfff]/;
const surrogatePair = /[\ud800-\udbff][\udc00-\udfff]/g;

/** Whether a string takes more than `bytesMax` in UTF-8. Counts bytes only if the length allows more. */
export function exceedsUtf8Bytes(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && utf8Bytes(text) > bytesMax;
}

/** Whether a string contains NUL. In the guest's engine, `split` is three times as fast as a search. */
export function hasNul(text: string): boolean {
  return text.split("\0", 2).length > 1;
}

/** Whether a string contains a lone surrogate, which UTF-8 cannot encode. */
export function hasLoneSurrogate(text: string): boolean {
  return !text.isWellFormed();
}

/**
 * Finds out in one pass that a text has no hidden character. It suspects more than there are: then the rule itself
 * decides (`hidden-text.ts`).
 */
const suspect = new RegExp(
  String.raw`[\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud80d\ud82f\ud834\udb40-\udb43\udffe\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]`,
);

/** Whether a text can have a hidden character; only `false` is certain. */
export const mayHide = (text: string): boolean => suspect.test(text) || !text.isWellFormed();

/** A number of things in words: "1 file", "2 files". The noun's plural ends in "s". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The number of Unicode code points, as JSON Schema counts `maxLength`. */
export function codePoints(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** The nesting depth of arrays and objects in a JSON text, found in one pass without parsing. */
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
 * A string as error messages show it: in double quotes, at most 60 code points. Characters that could break a line, or
 * hide or reverse text, are escaped.
 */
export function quoted(text: string, codePointsMax = 60): string {
  const shown = Array.from(text.slice(0, codePointsMax * 2)).slice(0, codePointsMax);
  const escaped = shown.join("").replace(unprintable, escapeCharacter);
  return shown.join("").length < text.length ? `"${escaped}…"` : `"${escaped}"`;
}

function escapeCharacter(character: string): string {
  if (character === '"' || character === "\\") return `\\${character}`;
  if (character === "\n") return "\\n";
  return escapeOf(character);
}

/** A character as its escape: `\u200b`, `\u{e0069}`. */
export function escapeOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

/** A value as messages show it. */
export function presentValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value !== "string") return jsonOf(value);
  const size = value.length > 60 ? ` (${utf8Bytes(value)} UTF-8 bytes)` : "";
  return `${quoted(value)}${size}${hasLoneSurrogate(value) ? " with a lone surrogate" : ""}`;
}

function jsonOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
