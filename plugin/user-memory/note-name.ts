/**
 * The names and paths of notes that people keep under other names than `<name>.md`, or in folders. A note has two possible
 * names: the short one, made from its file's name, and the long one, which ends in a hash of its path. `entry-names.ts`
 * chooses.
 */
import { decodedName, encodedName } from "../../shared/encoded-name.ts";
import { isScopePath } from "../../shared/path.ts";
import { entryLimits } from "./entry-limits.ts";
import { isEntryName } from "./entry-name.ts";
import { asciiOf, isAscii, nameFrom } from "./name-from.ts";
import { isEntryPath } from "./note-path.ts";

/** Whether an entry can be at a path that need not be one of a scope. */
export const canHaveEntry = (path: string): boolean => isScopePath(path) && isEntryPath(path);

/** The path of the note that a text names, which can be encoded; `null` if it names none. */
export function notePathOf(text: string): string | null {
  if (/%2f/i.test(text)) return null;
  try {
    const names = decodeURIComponent(text).split("/").map(encodedName);
    const path = names.join("/");
    return !names.includes(null) && canHaveEntry(path) ? path : null;
  } catch {
    return null;
  }
}

/** By path, the names of this call: each is asked for several times. */
const shortNames = new Map<string, string>();

/** The name of a note, as its path alone tells; two notes can have the same. */
export function shortName(path: string): string {
  const name = shortNames.get(path) ?? nameOfStem(stemOf(path));
  shortNames.set(path, name);
  return name;
}

/** The file's name without its folders and its ending, as a person sees it. */
const stemOf = (path: string): string => decodedName(path.slice(path.lastIndexOf("/") + 1)).slice(0, -".md".length);

function nameOfStem(stem: string): string {
  if (isEntryName(stem)) return stem;
  const name = nameFrom(stem, shortCharsMax).toLowerCase();
  const isWhole = name !== "" && name === nameFrom(stem, Infinity).toLowerCase() && !hasOtherLetters(asciiOf(stem));
  return isWhole ? name : `${name === "" ? "note" : name}-${hashOf(stem)}`;
}

/** The same for a note whose short name is another's, or is reserved. */
export const longName = (path: string): string =>
  `${shortName(path).slice(0, entryLimits.nameCharsMax - hashChars - 1)}-${hashOf(path)}`;

/** Leaves room for two hashes. */
const shortCharsMax = 80;

/** Letters and digits that ASCII has no words for. Signs and emoji tell two names apart less often, and a hash is ugly. */
const hasOtherLetters = (text: string): boolean => {
  if (isAscii(text)) return false;
  madeLetters ??= new RegExp(String.raw`(?![\0-\x7f])[\p{L}\p{N}]`, "u");
  return madeLetters.test(text);
};

// As a literal, it would be in every instance, 5 KB in the engine's form.
let madeLetters: RegExp | undefined;

const hashChars = 8;

/** FNV-1a: short, and the same for ever. Whoever makes two names with one hash has a note that the doctor names. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(hashChars, "0");
}
