/** The command `str_replace`: one literal piece of a text, which is there once. */
import type { Answer } from "../../kit/serve-tool.ts";
import { done } from "../change-entry.ts";
import type { Changed } from "../change-entry.ts";
import { refuseHidden } from "../value.ts";
import { numberedWithin } from "./cut-lines.ts";
import { fileToEdit, writeText } from "./edited-file.ts";
import { linesBefore, onlyMatch } from "./only-match.ts";
import type { ReplaceInput } from "./schemas.ts";
import { linesOf } from "./text-lines.ts";

/** Without `new_str`, the piece is deleted. */
export function replaceText({ path, old_str: old, new_str: replacement = "" }: ReplaceInput): Answer<Changed> {
  const file = fileToEdit(path, (shown) => `Error: The path ${shown} does not exist. Please provide a valid path.`);
  refuseHidden("new_str", replacement);
  const { content } = file.entry.value;
  const at = onlyMatch(content, old, file.place.shown);
  const changed = content.slice(0, at) + replacement + content.slice(at + old.length);
  writeText(file, changed);
  const edited = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
  return done(`${edited}\n${snippet(changed, linesBefore(content, at))}`);
}

const contextLines = 2;
const snippetCharsMax = 16_000;

/** The changed line with those around it. */
function snippet(text: string, line: number): string {
  const first = Math.max(0, line - contextLines);
  return numberedWithin(linesOf(text).slice(first, line + contextLines + 1), first + 1, snippetCharsMax);
}
