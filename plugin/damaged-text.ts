/** A file that is not UTF-8 text, as far as it can be read: U+FFFD is where it cannot. */
const replacement = "\ufffd";

/** The numbers of the lines that cannot be read as they are. None: the file is text of another encoding. */
export function damagedLines(readable: string): number[] {
  return readable.split("\n").flatMap((line, at) => (line.includes(replacement) ? [at + 1] : []));
}

/** The lines that can be read, and `otherwise` in place of the others. */
export const readableLines = (lines: readonly string[], otherwise: string): string[] =>
  lines.map((line) => (line.includes(replacement) ? otherwise : line));

/** What is wrong with such a file, as a clause about "it". */
export function whyDamaged(readable: string | null): string {
  const [line] = readable === null ? [] : damagedLines(readable);
  return line === undefined ? "it is not UTF-8 text" : `it is not UTF-8 text in line ${line}`;
}
