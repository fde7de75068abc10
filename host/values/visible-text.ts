/**
 * Text for a reviewer's terminal, whoever wrote it: characters that move the cursor, end a line, turn text around or
 * cannot be seen are written as escapes. What a plugin's author chose to call things can then be shown.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;

/** One line of it. */
export function visibleText(text: string): string {
  return text.replace(unseen, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16);
    return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
  });
}

/** All of its lines. `indent` stands before each but the first, so that none looks like the beginning of another text. */
export function visibleLines(text: string, indent = ""): string {
  return text.split("\n").map(visibleText).join(`\n${indent}`);
}

/** JSON, indented, that means the same with its escapes. */
export function visibleJson(value: unknown): string {
  // Line feeds of the indentation are the only ones: JSON writes those inside texts as escapes.
  return JSON.stringify(value, null, 2).replace(unseen, (character) =>
    character === "\n"
      ? character
      : Array.from({ length: character.length }, (_, at) => unitOf(character, at)).join(""),
  );
}

function unitOf(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
}
