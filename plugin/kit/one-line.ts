import { hiddenIn, shown, whyRefused } from "./hidden-text.ts";
import { breaksLine, plainLine } from "./plain-line.ts";

/** Whether a text is one line, all of which a person can see. */
export const isSeenLine = (text: string): boolean => !breaksLine.test(text) && hiddenIn(text) === null;

/** What is allowed in a field of one line, and of a text with a hidden character which one is not. */
export const seenLineOnly =
  (allowed: string) =>
  ({ input }: { readonly input: unknown }): string =>
    typeof input === "string" ? allowed + whyNotSeen(input) : allowed;

/** A clause with its semicolon; empty for a text that breaks lines, or that a person can see. */
export function whyNotSeen(text: string): string {
  const place = breaksLine.test(text) || !text.isWellFormed() ? null : hiddenIn(text);
  return place === null ? "" : `; ${whyRefused(place)}`;
}

/**
 * Returns a text as one line of at most `charsMax` characters, or `otherwise` if nothing is left of it. Hidden characters
 * become visible.
 */
export function oneLine(text: string, charsMax: number, otherwise: string): string {
  const line = shown(plainLine(text.slice(0, 4 * charsMax)));
  // To count the characters of each line would take a list of them longer than all of the rest.
  if (line.length <= charsMax) return line.trimEnd() || otherwise;
  const chars = Array.from(line);
  const cut = chars.slice(0, charsMax).join("").trimEnd();
  return (chars.length > charsMax ? cut.replace(tornSequence, "") : cut) || otherwise;
}

/** What is left at the end of an emoji that is cut within. */
const tornSequence = /[\u200d\u{e0061}-\u{e007a}]+$/u;
