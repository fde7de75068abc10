/** Texts measured in the columns of a terminal. The only file that imports `string-width`. */
import stringWidth from "string-width";

/** Longer cells do not widen their column, unless it is the last one. */
const columnWidthMax = 48;

/** The least that a column of a table is narrowed to. */
const narrowestWidth = 12;

interface TableShape {
  /** The columns whose cells are aligned to the right. Default: none. */
  readonly numbers?: readonly number[] | undefined;
  /** The columns of the terminal. Then cells are broken into lines so that the table fits. Default: nothing is broken. */
  readonly columnsMax?: number | undefined;
  /** Whether cells of the last column are shortened instead. Default: no. */
  readonly isCut?: boolean | undefined;
}

/** A table: its first row are the heads. */
export function columns(
  rows: readonly (readonly string[])[],
  { numbers = [], columnsMax = Infinity, isCut = false }: TableShape = {},
): string {
  const last = (rows[0]?.length ?? 0) - 1;
  const widths = widthsOf(rows, columnsMax);
  const cellIn = (text: string, column: number): string[] => {
    const width = widths[column] ?? 0;
    if (columnsMax === Infinity) return [text];
    return column === last && isCut ? [shortened(text, width)] : wrapped(text, width);
  };
  const padded = (text: string, column: number): string => {
    const space = " ".repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(text)));
    return numbers.includes(column) ? space + text : text + space;
  };
  const lines = rows.flatMap((row) => {
    const cells = row.map(cellIn);
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) =>
      cells
        .map((cell, column) => padded(cell[at] ?? "", column))
        .join("  ")
        .trimEnd(),
    );
  });
  return `${lines.join("\n")}\n`;
}

/** If the table is too wide for a terminal, the widest columns become as narrow as needed. */
function widthsOf(rows: readonly (readonly string[])[], columnsMax: number): number[] {
  const isFitted = columnsMax !== Infinity;
  const widths = (rows[0] ?? []).map((_, column) => {
    const all = rows.map((row) => stringWidth((row[column] ?? "").slice(0, isFitted ? columnsMax * 2 : undefined)));
    return Math.max(...all.filter((width) => isFitted || width <= columnWidthMax));
  });
  const gaps = 2 * (widths.length - 1);
  // The first column has what a person copies: a name stays whole as long as the others can be narrower.
  for (const first of [1, 0]) {
    for (let width = Math.max(...widths.slice(first)); width > narrowestWidth; width -= 1) {
      if (widths.reduce((sum, each) => sum + each, gaps) <= columnsMax) return widths;
      for (let column = first; column < widths.length; column += 1)
        widths[column] = Math.min(widths[column] ?? 0, width);
    }
  }
  return widths;
}

/** The lines of a text, each of at most so many columns: broken at spaces, and inside words that are longer. */
export function wrapped(text: string, columnsMax: number): string[] {
  if (stringWidth(text) <= columnsMax) return [text];
  const [indent = ""] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line = indent;
  let room = columnsMax - indent.length;
  const next = (): void => {
    lines.push(line.trimEnd());
    line = indent;
    room = columnsMax - indent.length;
  };
  for (const word of text.slice(indent.length).split(/(?<= )/)) {
    if (stringWidth(word.trimEnd()) > room && line !== indent) next();
    for (const { segment } of stringWidth(word) > room ? characters.segment(word) : [{ segment: word }]) {
      const width = stringWidth(segment);
      if (width > room && line !== indent && segment !== " ") next();
      line += segment;
      room -= width;
    }
  }
  return line.trim() === "" ? lines : [...lines, line.trimEnd()];
}

const characters = new Intl.Segmenter();

/** A text of at most so many columns, with `…` at its end if something is missing. */
export function shortened(text: string, columnsMax: number): string {
  // Marks take no column, and a character can have any number of them.
  const start = text.slice(0, columnsMax * 2).toWellFormed();
  if (start.length === text.length && stringWidth(start) <= columnsMax) return text;
  let width = 0;
  for (const { segment, index } of characters.segment(start)) {
    width += stringWidth(segment);
    if (width > columnsMax - 1) return `${start.slice(0, index)}…`;
  }
  return `${start}…`;
}
