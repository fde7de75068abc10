/**
 * Memories as text, as ChatGPT and Claude show them: a line is an entry, with its bullet, number or date, and the lines that
 * are indented below it. Headings are left out.
 */
import { quoted } from "../../shared/text.ts";
import { damaged, whyDamaged } from "../kit/file-text.ts";
import { entryLimits } from "../user-memory/entry-limits.ts";
import { hasWords } from "../user-memory/index-description.ts";
import { timeFrom } from "./entry-facts.ts";
import type { FilePiece, OpenFile, Reading } from "./reading.ts";

const bullet = /^(?:[-*+\u2013\u2014\u2022\u2023\u25aa\u25e6]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/u;
const dated = /^(?:\[([^[\]]{1,40})\]|\((\d{4}[^()]{1,36})\))[ \t]*(?:[-:\u2013\u2014][ \t]*)?/u;

/** A line that is indented further is none that goes on with an item. */
const indentMax = 64;

/** Whether most lines of a text are items of a list. */
export function seemsList(text: string, more: boolean): boolean {
  const lines = text.split("\n").filter((line) => hasWords(line) && !isHeading(line) && !/^[ \t]/.test(line));
  if (more) lines.pop();
  const items = lines.filter((line) => bullet.test(line) || dated.test(line));
  return items.length > 1 && items.length * 2 >= lines.length;
}

export function readList({ intake }: Reading, { path, text, more }: FilePiece, open: OpenFile): number {
  let at = 0;
  while (at < text.length && !intake.isFull) {
    const [lines, end] = itemAt(text, at);
    // Its next line can be in the next piece, or what is behind the blanks of it. An item as long as a piece is taken in pieces.
    if (more && at > 0 && /^[ \t]*$/.test(text.slice(end, end + indentMax))) break;
    if (lines.length > entryLimits.bodyBytesMax && !intake.isFresh) break;
    if (damaged.test(lines)) intake.leave(path, `from its line ${open.counted + 1} on: ${whyDamaged(lines)}`);
    else takeItem(lines, intake, { path, line: open.counted + 1 });
    open.counted += lines.split("\n").length - (lines.endsWith("\n") ? 1 : 0);
    at = end;
  }
  return at;
}

/** A line with those that are indented below it, and where it ends. */
function itemAt(text: string, at: number): readonly [lines: string, end: number] {
  let end = lineEnd(text, at);
  if (hasWords(text.slice(at, end)))
    while (end < text.length && /^(?:[ \t]{2,}|\t)\S/.test(text.slice(end, end + indentMax))) end = lineEnd(text, end);
  return [text.slice(at, end), end];
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

function takeItem(
  lines: string,
  intake: Reading["intake"],
  { path, line }: { readonly path: string; readonly line: number },
): void {
  const text = lines.trim();
  if (!saysSomething(text) || /^(?:`{3,}|~{3,})\w*$/.test(text)) return;
  if (isHeading(text)) return intake.leave(path, `its line ${line} is a heading: ${quoted(text)}`);
  const [created, body] = withoutDate(text.replace(bullet, ""));
  if (!saysSomething(body)) return intake.leave(path, `its line ${line} says nothing: ${quoted(text)}`);
  intake.add(path, { titles: [], description: null, type: "user", created, updated: created, others: "", body });
}

/** A bullet alone is no text, an emoji is. */
const saysSomething = (text: string): boolean => hasWords(text) && /[\p{L}\p{N}\p{Sc}\p{So}]/u.test(text);

/** The date that a line has in brackets before its text, and the text. Other words in brackets belong to the text. */
function withoutDate(text: string): readonly [created: string | null, body: string] {
  const [whole = "", square, round] = dated.exec(text) ?? [];
  const created = timeFrom(square ?? round);
  const isUnknown = /^(?:unknown|no date|undated|date unknown|n\/a)$/i.test(square ?? "");
  return created !== null || isUnknown ? [created, text.slice(whole.length)] : [null, text];
}

/** `# Title`, a line that is bold, one of a few words with a colon at its end, or what programs call the whole list. */
function isHeading(line: string): boolean {
  const text = line.trim();
  return (
    /^#{1,6}[ \t]/.test(text) ||
    /^\*\*[^*]{1,80}\*\*:?$/.test(text) ||
    /^[^-*\u2022\d[(][^.!?]{0,78}:$/u.test(text) ||
    /^(?:(?:saved|manage|my) )?memor(?:y|ies)$/i.test(text)
  );
}
