/**
 * Names of files as people give them, written in ASCII: as a path has them. Letters, digits, `-`, `_` and `.` stand for
 * themselves; every other byte of the name's UTF-8, in Unicode's form NFC, is `%` and two digits, `0-9A-F`. So there is
 * one text for a name, and two spellings that look the same are one.
 */

/** A name that needs no encoding. */
const plain = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

const encoded = /^(?:[A-Za-z0-9._-]|%[0-9A-F]{2})+$/;

/**
 * Returns how paths write a name; `null` if none does: it is empty or begins with a dot, has a separator, a control or a
 * hidden character, or somebody takes it for another: a system for a device, or a program for an encoding. ZWJ and ZWNJ
 * belong to words and emoji.
 */
export function encodedName(name: string): string | null {
  if (plain.test(name)) return name;
  const composed = name.normalize("NFC");
  if (composed === "" || composed.startsWith(".") || composed.trimEnd() !== composed) return null;
  if (unfit().test(composed) || device().test(composed)) return null;
  return encodeURIComponent(composed).replaceAll(/[!~*'()]/g, percent);
}

/** Whether a text is what `encodedName` returns for some name. */
export function isEncodedName(text: string): boolean {
  if (plain.test(text)) return true;
  if (!text.includes("%") || !encoded.test(text)) return false;
  try {
    return encodedName(decodeURIComponent(text)) === text;
  } catch {
    // It is not UTF-8.
    return false;
  }
}

/** The path that people mean, who see its names as they have given them; a path stays as it is. `null` if no path has them. */
export function encodedPath(path: string): string | null {
  const names = path.split("/").map((name) => (isEncodedName(name) ? name : encodedName(name)));
  return names.includes(null) ? null : names.join("/");
}

/** What two paths have in common that are one on a disk that does not tell capital letters. */
export const foldedPath = (path: string): string => decodedName(path).toLowerCase();

/** A path, or a place before which its scope stands, as people see it. What is no path stays as it is. */
export const shownPath = (path: string): string =>
  path
    .split("/")
    .map((name) => (isEncodedName(name) ? decodedName(name) : name))
    .join("/");

/** The name, or the names of a path, as people have given them. */
export const decodedName = (path: string): string => (path.includes("%") ? decodeURIComponent(path) : path);

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

// As literals, both would be in every instance of a guest, 5 KB each in the engine's form.
let madeUnfit: RegExp | undefined;
const unfit = (): RegExp =>
  (madeUnfit ??= new RegExp(
    String.raw`[/\\:\p{Cc}\p{Zl}\p{Zp}\p{Cs}\ufff0-\uffff]|(?![\u200c\u200d])\p{Cf}|%[0-9a-fA-F]{2}`,
    "u",
  ));

/** Devices on Windows, with any ending. A name of ASCII letters alone is one too, and was always allowed in paths. */
let madeDevice: RegExp | undefined;
const device = (): RegExp =>
  (madeDevice ??= new RegExp(String.raw`^(?:con|prn|aux|nul|(?:com|lpt)[0-9\xb9\xb2\xb3])[ .]*(?:\.|$)`, "i"));
