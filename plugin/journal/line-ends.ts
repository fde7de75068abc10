/** Line ends as in agentool: only LF ends a line, and CRs before it belong to the line end. */

/** Removes the CRs before each line end and at the text's end, in one pass even for long rows of them. */
export function withoutReturns(text: string): string {
  if (!text.includes("\r")) return text;
  const lines = text.replaceAll("\r\n", "\n");
  return lines.includes("\r") ? lines.split("\n").map(withoutLastReturns).join("\n") : lines;
}

function withoutLastReturns(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === "\r") end--;
  return line.slice(0, end);
}
