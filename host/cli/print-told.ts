/** Prints what is told of a result: hidden characters made visible, and on a terminal, no line wider than it. */
import { styleText } from "node:util";

import type { Told } from "../owner/told.ts";
import { visibleJson, visibleLines, visibleText } from "../values/visible-text.ts";
import { columns, wrapped } from "./columns.ts";
import type { Output, Terminal } from "./terminal.ts";

/** Prints a result: as JSON, or in a person's words. */
export function printResult({ stdout }: Terminal, isJson: boolean | undefined, result: unknown, told: Told): void {
  stdout.write(isJson ? `${visibleJson(result)}\n` : shownTold(told, stdout));
}

export function shownTold(told: Told, output: Output): string {
  const shown = told.map((each) => {
    if (typeof each === "string") return `${fitted(visibleText(each), output)}\n`;
    if ("text" in each) return `  ${visibleLines(each.text.replace(/\n$/, ""), "  ")}\n`;
    if ("difference" in each) return each.difference.map((line) => `${diffLine(line)}\n`).join("");
    const rows = each.rows.map((row) => row.map(visibleText));
    return columns([each.heads, ...rows], { ...each, columnsMax: widthOf(output) });
  });
  return shown.join("");
}

/** A line as lines that fit a terminal; as it is for everything else that reads it. */
export function fitted(line: string, output: Output): string {
  return wrapped(line, widthOf(output) ?? Infinity).join("\n");
}

/** A terminal that does not know its width has none. */
const widthOf = ({ isTTY, columns: width }: Output): number | undefined => (isTTY && width ? width : undefined);

/** A line of a unified diff, in colour on a terminal. It is escaped first, so that it cannot write to the terminal itself. */
export function diffLine(line: string): string {
  // The only line that begins so is the note on a missing line feed.
  const text = line.startsWith("\\") ? line : visibleText(line);
  const style = styles[line.slice(0, 1)];
  return style !== undefined && isColoured() ? styleText(style, text, { validateStream: false }) : text;
}

/** Whether standard output is a terminal that shows colours. */
export function isColoured(): boolean {
  const { stdout } = process;
  return stdout.isTTY && stdout.hasColors();
}

const styles: Readonly<Record<string, "cyan" | "red" | "green">> = { "@": "cyan", "-": "red", "+": "green" };
