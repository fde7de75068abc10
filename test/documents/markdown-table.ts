/** The rows of the first table below a heading, each as its cells. */
export function tableBelow(markdown: string, heading: string): string[][] {
  const [, below = ""] = markdown.split(`\n## ${heading}\n`);
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
