/**
 * Maps agent and run ids to folder names, one to one. Letters, digits, `-`, `_` and `.` stand for themselves; every
 * other byte is `_.` and two hexadecimal digits, and so is a character that could be taken for something else: `_`
 * before `.`, `.` at either end, and the first letter of `trash` and of device names. A name that gets too long ends in
 * `_.x` and the id's SHA-256; then only the file `run.json` knows the id.
 */
import { hashName } from "./long-name.deferred.ts";

/** Two names, and the longest file name with a trash stamp, fit into a path of 255 characters. */
const nameCharsMax = 100;

const hashMark = "_.x";
const shortenedChars = nameCharsMax - hashMark.length - 64;

export function folderNameOf(id: string): string {
  const name = encodeURIComponent(id)
    .replaceAll(/[!~*'()]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
    .replaceAll(/_(?=\.)|^\.|\.$/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
    .replace(/^[a-z]/i, (char) => (isTaken(id) ? `%${char.charCodeAt(0).toString(16)}` : char))
    .replaceAll(/%(..)/g, (_all, digits: string) => `_.${digits.toLowerCase()}`);
  if (name.length <= nameCharsMax) return name;
  const whole = name.slice(0, shortenedChars).replace(/_(\..?)?$/, "");
  return `${whole}${hashMark}${hashName(id)}`;
}

/** Returns the id of a folder's name, or `null` for a name that no id has or that has been shortened. */
export function idOf(name: string): string | null {
  try {
    const id = decodeURIComponent(name.replaceAll(/_\.([0-9a-f]{2})/g, "%$1"));
    return folderNameOf(id) === name ? id : null;
  } catch {
    return null;
  }
}

/** The trash's own folder, and names that are devices on some systems, alone or before a `.`. */
const isTaken = (id: string): boolean => /^(?:trash$|(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))/i.test(id);
