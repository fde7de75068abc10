/** An entry's description as a line of the index, and the description of a text for which nobody has written one. */
import { textBehindFrontMatter } from "../kit/front-matter.ts";
import { oneLine } from "../kit/one-line.ts";
import { entryLimits } from "./entry-limits.ts";

/** Returns a description, which a person may have edited, as one line within the limit; the name if it is blank. */
export function asIndexDescription(description: string, name: string): string {
  return oneLine(description, entryLimits.descriptionCharsMax, name);
}

/**
 * Describes a text by its first heading, or else by its first line with words, without the marks of Markdown; by the
 * name if there are no words. Passes over front matter. Looks only at the beginning, because a text can have 2 MiB.
 */
export function describedByText(text: string, name: string): string {
  const lines = firstLines(textBehindFrontMatter(text));
  let first: string | null = null;
  let code: string | null = null;
  let fence: string | null = null;
  for (const [at, line] of lines.entries()) {
    const mark = codeFence.exec(line)?.[1];
    if (mark !== undefined && (fence === null || mark.startsWith(fence))) {
      fence = fence === null ? mark : null;
      continue;
    }
    const words = wordsOf(line);
    if (words === null) continue;
    if (fence !== null) code ??= words;
    else if (isHeading(line, lines[at - 1], lines[at + 1])) return asIndexDescription(words, name);
    else first ??= words;
  }
  return asIndexDescription(first ?? code ?? "", name);
}

/** A heading further down is hardly the title. More lines would cost a prompt of many such files its time. */
const linesMax = 64;
const charsMax = 8_192;

/** White space at the beginning does not count, nor does a byte order mark. */
function firstLines(text: string): string[] {
  const start = text
    .slice(0, 8 * charsMax)
    .trimStart()
    .slice(0, charsMax);
  return start.split(start.includes("\n") ? "\n" : "\r", linesMax).map((line) => line.trim());
}

const codeFence = /^(`{3,}|~{3,})/;

/** `# Title`, or one line above a line of `=` or `-`. */
function isHeading(line: string, before = "", after = ""): boolean {
  return /^#{1,6}[ \t]/.test(line) || (before === "" && /^(?:=+|-+)$/.test(after));
}

/** Also of front matter that cannot be read. */
const isFence = (line: string): boolean => line.startsWith("---");

/** Marks of headings, quotes, lists and tasks at the beginning of a line. */
const marks = /^(?:(?:#{1,6}|[-*+>]|\[[ xX]\])[ \t]+|>)+/;

/** Whether a line is more than white space and marks, such as `---`, `* * *`, `##` or `|---|---|`. */
export const hasWords = (line: string): boolean => !marksAlone.test(line);

const marksAlone = /^[-*_=#>`~+|:\s\p{Cc}\p{Cf}]*$/u;

/** Returns a line without its marks, or `null` if it has no words. */
function wordsOf(line: string): string | null {
  const start = line.slice(0, wordsCharsMax);
  if (isFence(start) || !hasWords(start)) return null;
  const words = withoutClosingMarks(start.replace(marks, "")).replaceAll("**", "");
  return hasWords(words) ? words : null;
}

/** `# Title ##` is `Title`. A pattern at the end of a line would take a time that grows with the square of its length. */
function withoutClosingMarks(line: string): string {
  let end = line.length;
  while (line[end - 1] === "#") end--;
  return line[end - 1] === " " ? line.slice(0, end) : line;
}

/** The longest description in characters of two units, and its marks. */
const wordsCharsMax = 1_024;
