/** The lines of a text, lines with their numbers, and lines put into a text. */

/** An empty text has no line. A line end at the end of the text begins no further line. */
export function linesOf(text: string): string[] {
  const pieces = text.split("\n");
  if (pieces.at(-1) === "") pieces.pop();
  return pieces;
}

/** Counts without making the lines, which could take more memory than a guest has. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) {
    const end = text.indexOf("\n", at);
    at = end === -1 ? text.length : end + 1;
  }
  return count;
}

const numberWidth = 6;

/** Each line after its number and a tab. `first` is the number of the first one. */
export const numbered = (lines: readonly string[], first: number): string =>
  lines.map((line, at) => `${String(first + at).padStart(numberWidth)}\t${line}`).join("\n");

/**
 * Inserts a text after so many lines. Line ends are added only where lines would run together, and where the last line
 * of the text had one.
 */
export function withLines(content: string, line: number, text: string): string {
  const at = linesOf(content)
    .slice(0, line)
    .reduce((chars, each) => chars + each.length + 1, 0);
  const [head, tail] = [content.slice(0, at), content.slice(at)];
  const hasEnd = head.endsWith("\n");
  const isLast = tail === "" && !hasEnd;
  return head + (head === "" || hasEnd ? "" : "\n") + text + (isLast || text.endsWith("\n") ? "" : "\n") + tail;
}
