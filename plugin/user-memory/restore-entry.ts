import type { RestoreEntryOutput } from "../../shared/user-memory/restore.ts";
import type { Answer } from "../serve-tool.ts";
import { ToolError } from "../tool-error.ts";
import { parseEntry } from "./entry-file.ts";
import { entryNameAt, entryPath, indexPath } from "./entry-name.ts";
import { asIndexDescription, listEntryNames, loadIndex, memory } from "./memory-scope.ts";

/** `trash/<name>.<stamp>.md`, as the store names what it moves there. */
const trashedEntry = /^trash\/(.+)\.\d{8}T\d{9}Z(?:-\d+)?(\.md)$/;

/**
 * Puts the text of a trashed file back under its name, byte for byte, and lists it last in the index. The host takes the
 * file out of the trash together with this.
 */
export function restoreEntry(trashed: string): Answer<RestoreEntryOutput> {
  const [, base = "", ending = ""] = trashedEntry.exec(trashed) ?? [];
  const name = entryNameAt(base + ending);
  if (name === null) throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore "${trashed}": it is no trashed entry`);
  const text = memory.read(trashed);
  if (text === null) throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore "${trashed}": no such file`);
  const other = listEntryNames().find((each) => each.toLowerCase() === name.toLowerCase());
  if (other !== undefined) {
    throw new ToolError("NAME_CONFLICT", `Cannot restore "${trashed}": an entry "${other}" exists, delete it first`);
  }
  const entry = parseEntry(text);
  const index = loadIndex();
  const path = entryPath(name);
  memory.write(path, text);
  index.set(name, asIndexDescription("unreadable" in entry ? "" : entry.description, name));
  memory.write(indexPath, index.toString());
  return { message: `Memory entry "${name}" restored`, data: { name, path, trashed } };
}
