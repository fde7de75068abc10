/** Lines for a system prompt, framed as data: whole lines within a budget, then a line that counts the others. */
import { utf8Bytes } from "../../shared/text.ts";
import { shown as seen } from "./hidden-text.ts";

export interface Frame {
  readonly tag: string;
  /** What the lines are, and that they are no instructions. */
  readonly note: string;
  readonly linesMax: number;
  readonly bytesMax: number;
  /** The last line, if entries are not shown. */
  readonly cut?: (hidden: number) => string;
}

const notShown = (hidden: number): string => `(${hidden} more ${hidden === 1 ? "entry is" : "entries are"} not shown)`;

/**
 * Returns the lines that fit, in their order. Skips a line that alone exceeds the budget, so that it does not hide all
 * later lines. `<` is escaped, so that no stored line has a tag that ends the frame or seems to, and so are characters
 * that a person cannot see.
 */
export function linesWithin(lines: readonly string[], { linesMax, bytesMax }: Frame): string[] {
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines.slice(0, linesMax).map((each) => seen(each).replaceAll("<", "&lt;"))) {
    const lineBytes = utf8Bytes(line) + 1;
    if (lineBytes > bytesMax) continue;
    if (bytes + lineBytes > bytesMax) break;
    bytes += lineBytes;
    shown.push(line);
  }
  return shown;
}

/** `hidden`: how many entries are not shown. */
export function framed(lines: readonly string[], hidden: number, { tag, note, cut = notShown }: Frame): string {
  const last = hidden === 0 ? [] : [cut(hidden)];
  return [`<${tag}>`, note, ...lines, ...last, `</${tag}>`, ""].join("\n");
}
