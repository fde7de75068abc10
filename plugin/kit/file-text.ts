/**
 * The text of files that people and other programs wrote: its line ends, and what can be read of a file that is not UTF-8
 * text, or has NUL bytes, as UTF-16 without its mark has. U+FFFD stands for bytes that cannot be read. One wrong byte takes
 * its own line, and nothing else.
 */
const replacement = "\ufffd";

/** A line that cannot be trusted to say what its writer meant. */
export const damaged = /[\ufffd\0]/;

/** As UTF-16 without its mark begins, which can be UTF-8 text as well. To look for NULs in all of each file takes long. */
export const beginsWithNul = (text: string): boolean => text.slice(0, 2).includes("\0");

/** Why a file is no text, as a clause about "it". `readable`: what can be read of it; `null` if the host does not tell. */
export function whyDamaged(readable: string | null): string {
  if (readable === null || readable.trim() === "") return "it is not UTF-8 text";
  if (beginsWithNul(readable)) return "it is not UTF-8 text: it has NUL bytes, as UTF-16 without a byte order mark has";
  const lines = damagedLines(readable);
  if (lines === "") return "it is UTF-16 text, not UTF-8";
  return readable.includes(replacement)
    ? `it is not UTF-8 text: wrong bytes in ${lines}`
    : `it has NUL bytes in ${lines}`;
}

/** "line 3", or "lines 3, 4 and 17 more"; empty if there are none: the file is text of another encoding. */
export function damagedLines(text: string): string {
  const numbers = text.split(lineEnd).flatMap((line, at) => (damaged.test(line) ? [at + 1] : []));
  const [first, ...others] = numbers;
  if (first === undefined) return "";
  if (others.length === 0) return `line ${first}`;
  const more = numbers.length - namedMax;
  return `lines ${numbers.slice(0, namedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const namedMax = 3;
const lineEnd = /\r\n|\n|\r/;

/** The text without such lines, and with `keep` of them. */
export function withoutDamage(text: string, keep: (line: string) => string | null = () => null): string {
  return text
    .split(/(?<=\n|\r(?!\n))/)
    .map((line) => (damaged.test(line) ? (keep(line) ?? "") : line))
    .join("");
}

/** The lines that can be read, and `otherwise` in place of the others. */
export const readableLines = (lines: readonly string[], otherwise: string): string[] =>
  lines.map((line) => (damaged.test(line) ? otherwise : line));

/** The part of a message that says where a file is now that could not be written again as it was. */
export const trashedNote = (trashed: string | null): string =>
  trashed === null ? "" : `; the previous file was not UTF-8 text and is now ${trashed}`;

/** Text whose lines end with carriage returns alone, as on the first Macs. With one line feed in it, a return is no line end. */
export const hasReturnsAlone = (text: string): boolean => !text.includes("\n") && text.includes("\r");

export const withLineFeeds = (text: string): string => (hasReturnsAlone(text) ? text.replaceAll("\r", "\n") : text);
