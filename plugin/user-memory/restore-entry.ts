import { parseTrashPath } from "../../shared/path.ts";
import type { RestoreOutput } from "../../shared/roles.ts";
import { NoUtf8 } from "../kit/capabilities.ts";
import { whyDamaged } from "../kit/file-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { parseEntry } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryNameAt, entryPath } from "./entry-name.ts";
import { asIndexDescription } from "./index-description.ts";
import { loadIndex, saveIndex } from "./load-index.ts";
import { listEntryNames, memory } from "./memory-scope.ts";

/**
 * Writes the text of a trashed file back under its name, byte for byte, and lists it in the index. The host takes the
 * file out of the trash in the same commit.
 */
export function restoreEntry(trashed: string): Answer<RestoreOutput & { name: string; trashed: string }> {
  const name = entryNameAt(parseTrashPath(trashed)?.path ?? "");
  if (name === null) throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore "${trashed}": it is not a trashed entry`);
  const text = readTrashed(trashed);
  if (text === null) throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore "${trashed}": no such file`);
  const names = listEntryNames();
  if (names.length >= entryLimits.entriesMax) {
    throw new ToolError(
      "QUOTA_EXCEEDED",
      `Cannot restore "${trashed}": ${names.length} entries exist, at most ${entryLimits.entriesMax} allowed`,
    );
  }
  const other = names.find((each) => each.toLowerCase() === name.toLowerCase());
  if (other !== undefined) {
    throw new ToolError("NAME_CONFLICT", `Cannot restore "${trashed}": an entry "${other}" exists, delete it first`);
  }
  const entry = parseEntry(text, name);
  const index = loadIndex();
  const path = entryPath(name);
  memory.write(path, text);
  index.set(name, asIndexDescription(entry.description ?? "", name));
  saveIndex(index);
  return { message: `Memory entry "${name}" restored`, data: { name, path, trashed } };
}

/** Only a host can move bytes that are not UTF-8 text: a tool writes text. It then has no line, and is listed all the same. */
function readTrashed(trashed: string): string | null {
  try {
    return memory.read(trashed);
  } catch (error) {
    if (!(error instanceof NoUtf8)) throw error;
    const message = `Cannot restore "${trashed}": ${whyDamaged(error.readable)}; move it back as it is, as "memcell trash restore" does`;
    throw new NoUtf8(message, error.readable);
  }
}
