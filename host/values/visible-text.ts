import { escapeOf, quoted } from "../../shared/text.ts";

/**
 * Escapes untrusted text for a reviewer's terminal: characters that move the cursor, end a line, reverse text or are
 * invisible. So names that a plugin's author chose can be shown safely.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;

/** Escapes a text so that it stays on one line. */
export function visibleText(text: string): string {
  return text.replace(unseen, escapeOf);
}

/** Escapes each line. All but the first get `indent`, so that none looks like the start of another text. */
export function visibleLines(text: string, indent = ""): string {
  return text.split("\n").map(visibleText).join(`\n${indent}`);
}

/**
 * A simple name unchanged; any other name in quotes, so it cannot be mistaken for the words around it. Shortens a name
 * in quotes.
 */
export function visibleName(name: string, codePointsMax?: number): string {
  return /^[A-Za-z0-9_.:-]{1,64}$/.test(name) ? name : visibleText(quoted(name, codePointsMax));
}

/** Indented JSON with escapes, which has the same meaning. */
export function visibleJson(value: unknown): string {
  return visibleJsonText(JSON.stringify(value, null, 2));
}

/** Escapes a JSON text without changing its meaning. */
export function visibleJsonText(json: string): string {
  // These characters are only between values: JSON escapes them inside texts.
  return json.replace(unseen, (character) =>
    "\n\r\t".includes(character)
      ? character
      : Array.from({ length: character.length }, (_, at) => unitOf(character, at)).join(""),
  );
}

function unitOf(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
}
