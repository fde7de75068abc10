/** Terminals that reviewers have are at least this wide. */
const columnsMax = 80;

/** Text in lines: the label before the first, as many spaces before the others. A longer word has its line alone. */
export function wrapText(label: string, text: string): string[] {
  const lines: string[] = [];
  let line = label;
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && columnsOf(line) + 1 + columnsOf(word) > columnsMax) {
      lines.push(line);
      line = " ".repeat(label.length);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

/** At most: whatever is not ASCII may take two. */
const columnsOf = (text: string): number => text.replaceAll(/[^ -~]/gu, "xx").length;
