import { styleText } from "node:util";

import { visibleText } from "../values/visible-text.ts";
import { isColoured } from "./colours.ts";

/**
 * A line of a unified diff, in colour on a terminal. The text is escaped before it is coloured, so that it cannot write to
 * the terminal itself.
 */
export function diffLine(line: string): string {
  // The only line that begins so is the note on a missing line feed.
  const text = line.startsWith("\\") ? line : visibleText(line);
  const style = styles[line.slice(0, 1)];
  return style !== undefined && isColoured() ? styleText(style, text, { validateStream: false }) : text;
}

const styles: Readonly<Record<string, "cyan" | "red" | "green">> = { "@": "cyan", "-": "red", "+": "green" };
