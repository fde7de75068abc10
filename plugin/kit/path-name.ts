/**
 * Writes any text as one name of a path, one to one, except that Unicode's forms of a text are one. Letters, digits, `-`, `_` and `.` stand for themselves; every
 * other byte is `_.` and two hexadecimal digits, and so is a character that could be taken for something else: `_`
 * before `.`, `.` at either end, and the first letter of `trash` and of device names.
 */
export function nameOf(text: string): string {
  return encodeURIComponent(text.normalize("NFC"))
    .replaceAll(/[!~*'()]/g, percent)
    .replaceAll(/_(?=\.)|^\.|\.$/g, percent)
    .replace(/^[a-z]/i, (char) => (isTaken(text) ? percent(char) : char))
    .replaceAll(/%(..)/g, (_all, digits: string) => `_.${digits.toLowerCase()}`);
}

/** Returns a name's text, or `null` for a name that no text has. */
export function textOf(name: string): string | null {
  try {
    const text = decodeURIComponent(name.replaceAll(/_\.([0-9a-f]{2})/g, "%$1"));
    return nameOf(text) === name ? text : null;
  } catch {
    return null;
  }
}

const percent = (char: string): string => `%${char.charCodeAt(0).toString(16)}`;

/** The trash's own folder, and names that are devices on some systems, alone or before a `.`. */
const isTaken = (text: string): boolean => /^(?:trash$|(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))/i.test(text);

/** Before the hash of a text that makes too long a name. No text gives a name that begins so. */
export const longMark = "_.x";

export const isLongName = (name: string): boolean => /^_\.x[0-9a-f]{64}$/.test(name);

/** The pattern of a name that stands for itself: nothing in it is encoded, nor a name of a system. */
export const plainName = String.raw`(?![tT][rR][aA]|[cC][oO][mMnN]|[pP][rR][nN]|[aA][uU][xX]|[nN][uU][lL]|[lL][pP][tT])[\w-]+(?:(?<!_)\.[\w-]+)*`;
