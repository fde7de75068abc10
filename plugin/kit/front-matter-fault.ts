/** Says what is wrong with front matter, and in which line of the file, for the person who wrote it. */
import { oneLine } from "./one-line.ts";

/** A clause about the front matter. */
export const wrongIn = (line: number, reason: string): string => `is wrong in line ${line}: ${reason}`;

/** The line in the file of a place in the front matter's text, which begins in line 2. */
export const lineAt = (text: string, at: number): number => text.slice(0, at).split("\n").length + 1;

/** Why the YAML library does not read the text, as a clause about the front matter. */
export function whyNoYaml(error: unknown, text: string): string {
  const { reason, mark } = error as { readonly reason?: unknown; readonly mark?: { readonly line?: unknown } };
  if (typeof reason !== "string") return "cannot be read as YAML";
  const lines = text.replace(/\n$/, "").split("\n");
  const line = typeof mark?.line === "number" ? mark.line : lines.findIndex((each) => each.startsWith("...")) + 1;
  // The library counts from the opening fence, and from 0; it finds some faults only behind the last line.
  const inFile = Math.max(2, Math.min(line, lines.length) + 1);
  return wrongIn(inFile, oneLine(reason, reasonCharsMax, "it is not YAML") + hintFor(lines[inFile - 2] ?? ""));
}

/** A reason can quote what is in the file. */
const reasonCharsMax = 200;

/** What people get wrong most: in `description: Fix: the build`, the value needs quotation marks. */
function hintFor(line: string): string {
  if (line.length > hintedCharsMax) return "";
  if (/: *(["'])(?!.*\1\s*$)/.test(line)) return " (a quotation mark is not closed)";
  return line.split(": ", 3).length > 2 ? ' (a value with ": " in it needs quotation marks)' : "";
}

/** The patterns above take a time that grows with the square of the length. */
const hintedCharsMax = 200;
