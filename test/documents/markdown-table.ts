/** The rows of the first table below a heading of the second level, each as its cells. */
export function tableBelow(markdown: string, heading: string): string[][] {
  return tableUnder(markdown, `## ${heading}`);
}

/** The rows of the first table below a line, each as its cells. */
export function tableUnder(markdown: string, line: string): string[][] {
  const [, below = ""] = markdown.split(`\n${line}\n`);
  const [, table = ""] = /\n(\|[\s\S]*?\n)(?!\|)/.exec(below) ?? [];
  const [, , ...rows] = table.trim().split("\n");
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}

/** What stands between backticks. */
export function codeIn(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, code = ""]) => code);
}

/** What stands outside of blocks of code. */
export function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```/gm, "");
}
