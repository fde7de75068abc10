/** Texts measured in the columns of a terminal. The only file that imports `string-width`. */
import stringWidth from "string-width";

/** Longer cells do not widen their column. */
const columnWidthMax = 48;

/** A table. The columns with the numbers in `toTheRight` are aligned to the right. */
export function columns(rows: readonly (readonly string[])[], toTheRight: readonly number[] = []): string {
  const sized = rows.map((row) => row.map((text) => ({ text, width: stringWidth(text) })));
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...sized.map((row) => row[column]?.width ?? 0).filter((width) => width <= columnWidthMax)),
  );
  const lines = sized.map((row) =>
    row
      .map(({ text, width }, column) => {
        const space = " ".repeat(Math.max(0, (widths[column] ?? 0) - width));
        return toTheRight.includes(column) ? space + text : text + space;
      })
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
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
