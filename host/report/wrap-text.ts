/** Text in lines for a terminal. Sole importer of `wrap-ansi`. */
import wrapAnsi from "wrap-ansi";

import { visibleText } from "../values/visible-text.ts";

/** Terminals that reviewers have are at least this wide. */
const columnsMax = 80;

/**
 * Text in lines: the label before the first, as many spaces before the others. A word that is longer is broken: a terminal
 * would go on with it where lines begin, as if what it says were the report's own.
 */
export function wrapText(label: string, text: string): string[] {
  const lines = wrapAnsi(visibleText(text), columnsMax - label.length, { hard: true }).split("\n");
  return lines.map((line, at) => `${at === 0 ? label : " ".repeat(label.length)}${line}`);
}
