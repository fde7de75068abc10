/** The command `insert`: whole lines after a line of a text. */
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { done } from "../change-entry.ts";
import type { Changed } from "../change-entry.ts";
import { refuseHidden } from "../value.ts";
import { fileToEdit, writeText } from "./edited-file.ts";
import type { InsertInput } from "./schemas.ts";
import { linesOf, withLines } from "./text-lines.ts";

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
  return done(`The file ${file.place.shown} has been edited.`);
}
