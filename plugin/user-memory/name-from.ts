/** Names that an entry can have, made of any text. Deferred (`build/README.md`): few calls need them. */
import { entryLimits } from "./entry-limits.ts";
import { isReserved } from "./entry-name.ts";

/**
 * The nearest name to a title, a file's name or a person's words, of at most `charsMax` characters; nothing if it has no
 * letter or digit that can be written in ASCII. Words become lower-case; a single word stays as it is.
 */
export function nameFrom(text: string, charsMax: number = entryLimits.nameCharsMax): string {
  const ascii = asciiOf(text.slice(0, 4 * charsMax));
  const name = ascii.replaceAll("'", "").replaceAll(/[^a-zA-Z0-9_-]+/g, "-");
  const trimmed = trimmedName(withinWords(trimmedName(name), charsMax));
  return /\s/.test(ascii.trim()) ? trimmed.toLowerCase() : trimmed;
}

/** The text with its letters as ASCII has them, as far as it has any: other letters, signs and emoji stay as they are. */
export function asciiOf(text: string): string {
  if (isAscii(text)) return text;
  madeMarks ??= new RegExp(String.raw`\p{M}+`, "gu");
  return Array.from(text.normalize("NFKD").replaceAll(madeMarks, ""), written).join("");
}

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

// As a literal, it would be in every instance, 5 KB in the engine's form.
let madeMarks: RegExp | undefined;

/** The name, or the first of `name-2`, `name-3` … that no entry has: names differ by more than case. */
export function freeName(name: string, isTaken: (folded: string) => boolean): string {
  const base = isReserved(name) ? `${name}-notes` : name;
  let free = base.slice(0, entryLimits.nameCharsMax);
  for (let number = 2; isTaken(free.toLowerCase()); number++) {
    const end = `-${number}`;
    free = base.slice(0, entryLimits.nameCharsMax - end.length) + end;
  }
  return free;
}

const trimmedName = (name: string): string => name.replaceAll(/^[-_]+|[-_]+$/g, "");

/** Cut between words if the last one would be cut. */
function withinWords(name: string, charsMax: number): string {
  if (name.length <= charsMax) return name;
  const end = name.lastIndexOf("-", charsMax);
  return name.slice(0, end > charsMax / 2 ? end : charsMax);
}

/** A letter in Latin letters, as passports write it. */
function written(letter: string): string {
  if (isAscii(letter)) return letter;
  if (letter === "\u2019") return "";
  const small = letter.toLowerCase();
  const at = letters.indexOf(` ${small}`);
  if (at === -1) return letter;
  const [latin = ""] = /^[a-z]*/.exec(letters.slice(at + 1 + small.length)) ?? [];
  return small === letter ? latin : latin.slice(0, 1).toUpperCase() + latin.slice(1);
}

/** Without the marks that take a letter apart: й is и with a mark. */
const letters =
  " ßss æae œoe øo łl đd ðd þth ıi ŋn ħh " +
  "аa бb вv гg ґg дd еe єye жzh зz иi іi јj кk лl љlj мm нn њnj оo пp рr сs тt ћc ђdj уu фf хkh цts чch џdz шsh щshch ъ ыy ь эe юyu яya " +
  "αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo ";
