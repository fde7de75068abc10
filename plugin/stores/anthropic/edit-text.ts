/** The commands `str_replace` and `insert`, which change the text of one file of the caller's own. */
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { done } from "../change-entry.ts";
import type { Changed } from "../change-entry.ts";
import type { FoundEntry } from "../entry-store.ts";
import { checkValue, refuseHidden, typeOfValue } from "../value.ts";
import { numberedWithin } from "./cut-lines.ts";
import { parseFilePath } from "./file-path.ts";
import type { FilePath } from "./file-path.ts";
import { linesBefore, onlyMatch } from "./only-match.ts";
import { OwnFiles } from "./own-files.ts";
import type { InsertInput, ReplaceInput } from "./schemas.ts";
import { linesOf, withLines } from "./text-lines.ts";

/** Replaces one literal piece of a text, which is there once. Without `new_str`, the piece is deleted. */
export function replaceText({ path, old_str: old, new_str: replacement = "" }: ReplaceInput): Answer<Changed> {
  const file = fileToEdit(path, (shown) => `Error: The path ${shown} does not exist. Please provide a valid path.`);
  refuseHidden("new_str", replacement);
  const { content } = file.entry.value;
  const at = onlyMatch(content, old, file.place.shown);
  const changed = content.slice(0, at) + replacement + content.slice(at + old.length);
  writeText(file, changed);
  const edited = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
  return done(`${edited}\n${snippet(changed, linesBefore(content, at))}`, [file.files.at.place(file.entry.path)]);
}

const contextLines = 2;
const snippetCharsMax = 16_000;

/** The changed line with those around it. */
function snippet(text: string, line: number): string {
  const first = Math.max(0, line - contextLines);
  return numberedWithin(linesOf(text).slice(first, line + contextLines + 1), first + 1, snippetCharsMax);
}

/** Inserts whole lines after a line of a text. */
export function insertText({ path, insert_line: line, insert_text: text }: InsertInput): Answer<Changed> {
  const file = fileToEdit(path, (shown) => `Error: The path ${shown} does not exist`);
  const { content } = file.entry.value;
  const count = linesOf(content).length;
  if (!Number.isInteger(line) || line < 0 || line > count) {
    const allowed = `It should be within the range of lines of the file: [0, ${count}]`;
    throw new ToolError("INPUT_INVALID", `Error: Invalid \`insert_line\` parameter: ${line}. ${allowed}`);
  }
  refuseHidden("insert_text", text);
  writeText(file, withLines(content, line, text));
  return done(`The file ${file.place.shown} has been edited.`, []);
}

interface EditedFile {
  readonly files: OwnFiles;
  readonly place: FilePath;
  readonly entry: FoundEntry;
}

/** Throws `ENTRY_NOT_FOUND` with the message that `missing` makes of the path, also for a folder. */
function fileToEdit(path: string, missing: (shown: string) => string): EditedFile {
  const place = parseFilePath(path);
  const files = new OwnFiles();
  const named = files.find(place);
  if (named === null || named.folder) throw new ToolError("ENTRY_NOT_FOUND", missing(place.shown));
  const entry = files.ownOf(named.entries, place);
  const { encrypted, value } = entry;
  if (!encrypted && value.format === "text") return { files, place, entry };
  const what = encrypted ? "it is encrypted" : `its content is JSON (${typeOfValue(value)}), not text`;
  throw new ToolError("VALUE_NOT_TEXT", `Cannot edit ${place.shown}: ${what}. Delete it and create it again.`);
}

/** Everything else about the entry stays, such as the time at which it ends. */
function writeText({ files: { at }, entry }: EditedFile, content: string): void {
  const value = { format: "text", content } as const;
  checkValue(value);
  at.write({ ...entry, value, updated: at.now }, entry);
  at.saveIndex();
}
