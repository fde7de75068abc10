/** Lines with their numbers, cut to what a model reads at once, or to what an answer holds. */
import { counted } from "../../../shared/text.ts";
import { jsonBytes } from "../value.ts";
import { numbered } from "./text-lines.ts";

/** As JSON. The rest of an answer takes some hundred bytes. */
const answerBytesMax = 500_000;

export const fitsAnswer = (text: string): boolean => jsonBytes(text) <= answerBytesMax;

/** So many characters always fit into an answer: each takes at most six bytes in JSON. */
const certainCharsMax = 80_000;

/** The number of a line, the tab behind it, and the line's end. */
const charsBesideLine = 8;

/**
 * Returns lines with their numbers, all of them if they have at most `charsMax` characters. Otherwise it returns the
 * first of them, and a note that says which ones are left out.
 *
 * @param first The number of the first line.
 */
export function numberedWithin(lines: readonly string[], first: number, charsMax: number): string {
  if (charsOf(lines) <= charsMax) {
    const whole = numbered(lines, first);
    if (fitsAnswer(whole)) return whole;
  }
  const cutMax = Math.min(charsMax, certainCharsMax);
  const fitting = countWithin(lines, cutMax);
  if (fitting > 0) return `${numbered(lines.slice(0, fitting), first)}\n[${leftOut(lines, first, fitting)}]`;
  const [line = ""] = lines;
  const hint = charsMax < certainCharsMax ? `: view_range [${first}, ${first}] shows more` : "";
  const note = `line ${first} is cut after ${cutMax} of ${line.length} characters${hint}`;
  const others = lines.length > 1 ? `; ${leftOut(lines, first, 1)}` : "";
  return `${numbered([cut(line, cutMax)], first)}\n[${note}${others}]`;
}

const charsOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0);

/** How many of the lines have at most so many characters with their numbers. */
function countWithin(lines: readonly string[], charsMax: number): number {
  let chars = 0;
  const beyond = lines.findIndex((line) => (chars += line.length + charsBesideLine) > charsMax);
  return beyond === -1 ? lines.length : beyond;
}

/** Does not leave half of a character. */
const cut = (line: string, charsMax: number): string => line.slice(0, charsMax).replace(/[\ud800-\udbff]$/, "");

function leftOut(lines: readonly string[], first: number, shown: number): string {
  const range = `view_range [${first + shown}, ${first + lines.length - 1}]`;
  return `${counted(lines.length - shown, "more line")}: ${range}`;
}
