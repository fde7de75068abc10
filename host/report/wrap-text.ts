/** Terminals that reviewers have are at least this wide. */
const columnsMax = 80;

/** Text in lines: the label before the first, as many spaces before the others. A longer word has its line alone. */
export function wrapText(label: string, text: string): string[] {
  const lines: string[] = [];
  let line = label;
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && line.length + 1 + word.length > columnsMax) {
      lines.push(line);
      line = " ".repeat(label.length);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
