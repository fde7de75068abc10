/** Texts measured in the columns of a terminal. The only file that imports `string-width`. */
import stringWidth from "string-width";

/** Longer cells do not widen their column, unless it is the last one. */
const columnWidthMax = 48;

/** The least that a shortened last column is worth. */
const lastWidthMin = 16;

/**
 * A table. The columns with the numbers in `toTheRight` are aligned to the right. `columnsMax`: those of the terminal; then
 * the last column is shortened to what the others leave of a line. Default: nothing is shortened.
 */
export function columns(
  rows: readonly (readonly string[])[],
  toTheRight: readonly number[] = [],
  columnsMax = Infinity,
): string {
  const sized = rows.map((row) => row.map((text) => ({ text, width: stringWidth(text) })));
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...sized.map((row) => row[column]?.width ?? 0).filter((width) => width <= columnWidthMax)),
  );
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const lastMax = Math.max(columnsMax - others, lastWidthMin);
  const lines = sized.map((row) =>
    row
      .map(({ text, width }, column) => {
        const space = " ".repeat(Math.max(0, (widths[column] ?? 0) - width));
        if (toTheRight.includes(column)) return space + text;
        return column === widths.length - 1 ? shortened(text, lastMax) : text + space;
      })
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

const characters = new Intl.Segmenter();

/** A text of at most so many columns, with `…` at its end if something is missing. */
export function shortened(text: string, columnsMax: number): string {
  if (columnsMax === Infinity) return text;
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
