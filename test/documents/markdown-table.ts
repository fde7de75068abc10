/** The rows of the first table below a heading of the second level, each as its cells. */
export function tableBelow(markdown: string, heading: string): string[][] {
  return tableUnder(markdown, `## ${heading}`);
}

/** The rows of the first table below a line, each as its cells. */
export function tableUnder(markdown: string, line: string): string[][] {
  const [, below = ""] = markdown.split(`\n${line}\n`);
  return tablesIn(below)[0] ?? [];
}

/** All tables: the rows of each, each row as its cells. */
export function tablesIn(markdown: string): string[][][] {
  return Array.from(`\n${markdown}`.matchAll(/(?:\n\|[^\n]*)+/g), ([table]) => {
    const [, , ...rows] = table.trim().split("\n");
    return rows.map((row) =>
      row
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
  });
}

/** The text below a heading, up to the next heading of its level or above. */
export function sectionOf(markdown: string, heading: string): string {
  const lines = withoutBlocks(markdown).split("\n");
  const from = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading);
  if (from === -1) throw new Error(`There is no heading "${heading}"`);
  const level = lines[from]?.indexOf(" ") ?? 0;
  const rest = lines.slice(from + 1);
  const length = rest.findIndex((line) => /^#+ /.test(line) && line.indexOf(" ") <= level);
  return rest.slice(0, length === -1 ? undefined : length).join("\n");
}

/** Headings of the second level. */
export function questionsIn(markdown: string): string[] {
  return Array.from(withoutBlocks(markdown).matchAll(/^## (.*)$/gm), ([, heading = ""]) => heading);
}

/** Lists of codes in capitals, however they are separated: with commas, words or list marks. */
export function codeListsIn(markdown: string): string[][] {
  const list = /`[A-Z][A-Z_]+`(?:[\s,*-]*(?:\b(?:and|or)\b)?\s*`[A-Z][A-Z_]+`)+/g;
  return Array.from(markdown.matchAll(list), ([codes]) => codeIn(codes));
}

/** Whole numbers outside code. `524,288` is one number. */
export function numbersIn(markdown: string): number[] {
  const plain = markdown.replaceAll(/`[^`]*`/g, "");
  return Array.from(plain.matchAll(/\d[\d,]*/g), ([digits]) => Number(digits.replaceAll(",", "")));
}

const bytesOf = { bytes: 1, KiB: 1024, MiB: 1024 ** 2 } as const;

/** The distinct sizes in bytes that a text names, smallest first. */
export function sizesIn(markdown: string): number[] {
  const sizes = Array.from(markdown.matchAll(/(?<!-)\b(\d[\d,]*)\s(bytes|KiB|MiB)\b/g), ([, digits = "", unit]) => {
    return Number(digits.replaceAll(",", "")) * bytesOf[unit as keyof typeof bytesOf];
  });
  return [...new Set(sizes)].toSorted((a, b) => a - b);
}

/** The texts between backticks. */
export function codeIn(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, code = ""]) => code);
}

/** The places inside the project that a text links to or shows as images. */
export function linksIn(markdown: string): string[] {
  const prose = markdown.replaceAll(/```[\s\S]*?```|`[^`]*`/g, "");
  return Array.from(prose.matchAll(/(?:\]\(|\bsrc=")(?!https?:)([^)"\s]+)/g), ([, link = ""]) => link);
}

export interface Block {
  /** What is behind the fence: `sh`, `json result`, nothing. */
  readonly language: string;
  readonly text: string;
}

/** The blocks of code, in their order. */
export function blocksIn(markdown: string): Block[] {
  const blocks = markdown.matchAll(/^```(.*)\n([\s\S]*?)\n?```$/gm);
  return Array.from(blocks, ([, language = "", text = ""]) => ({ language, text }));
}

/** The lines of the blocks of shell commands. A command that goes on in the next line is one line. */
export function commandLinesIn(markdown: string): string[] {
  const blocks = blocksIn(markdown).filter(({ language }) => language === "sh");
  return blocks.flatMap(({ text }) => text.replaceAll("\\\n", " ").split("\n"));
}

/** The text outside blocks of code. */
export function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```/gm, "");
}
