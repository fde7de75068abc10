/** Ends of lines, as agentool sees them: LF alone ends one, and what CR stands before it belongs to the end. */

/** Without the CRs before each line end and at the text's end. In one pass, however many there are in a row. */
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
