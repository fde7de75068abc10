/** Prints what is told of a result on a terminal: hidden characters made visible, tables as wide as the terminal. */
import { styleText } from "node:util";

import type { Told } from "../owner/told.ts";
import { visibleLines, visibleText } from "../values/visible-text.ts";
import { isColoured } from "./colours.ts";
import { columns } from "./columns.ts";
import type { Output } from "./terminal.ts";

export function shownTold(told: Told, { isTTY = false, columns: columnsMax }: Output): string {
  const shown = told.map((each) => {
    if (typeof each === "string") return `${visibleText(each)}\n`;
    if ("text" in each) return `  ${visibleLines(each.text.replace(/\n$/, ""), "  ")}\n`;
    if ("difference" in each) return each.difference.map((line) => `${diffLine(line)}\n`).join("");
    const rows = each.rows.map((row) => row.map(visibleText));
    return columns([each.heads, ...rows], each.numbers, isTTY && each.isCut ? columnsMax : undefined);
  });
  return shown.join("");
}

/** A line of a unified diff, in colour on a terminal. It is escaped first, so that it cannot write to the terminal itself. */
export function diffLine(line: string): string {
  // The only line that begins so is the note on a missing line feed.
  const text = line.startsWith("\\") ? line : visibleText(line);
  const style = styles[line.slice(0, 1)];
  return style !== undefined && isColoured() ? styleText(style, text, { validateStream: false }) : text;
}

const styles: Readonly<Record<string, "cyan" | "red" | "green">> = { "@": "cyan", "-": "red", "+": "green" };
