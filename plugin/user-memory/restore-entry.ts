import { decodedName } from "../../shared/encoded-name.ts";
import { parseTrashPath } from "../../shared/path.ts";
import type { RestoreOutput } from "../../shared/roles.ts";
import { NoUtf8 } from "../kit/capabilities.ts";
import { whyDamaged } from "../kit/file-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { parseEntry } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { asIndexDescription } from "./index-description.ts";
import { loadIndex, saveIndex } from "./load-index.ts";
import { entryFilesAmong, listEntryFiles, memory } from "./memory-scope.ts";
import { isEntryPath } from "./note-path.ts";
import { shortName } from "./notes.deferred.ts";

/**
 * Writes the text of a trashed file back under its name, byte for byte, and lists it in the index. The host takes the
 * file out of the trash in the same commit.
 */
export function restoreEntry(trashed: string): Answer<RestoreOutput & { name: string; trashed: string }> {
  const path = parseTrashPath(trashed)?.path ?? "";
  if (path === "" || !isEntryPath(path))
    throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore "${trashed}": it is not a trashed entry`);
  const text = readTrashed(trashed);
  if (text === null) throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore "${trashed}": no such file`);
  const name = nameAmongOthers(path, trashed);
  const entry = parseEntry(text, name);
  const index = loadIndex();
  memory.write(path, text);
  index.set({ name, path, description: asIndexDescription(entry.description ?? "", name) });
  saveIndex(index);
  return { message: `Memory entry "${name}" restored`, data: { name, path, trashed } };
}

/** The name that the entry has when it is back. Throws if it has no place. */
function nameAmongOthers(path: string, trashed: string): string {
  const files = listEntryFiles();
  if (files.length >= entryLimits.entriesMax) {
    throw new ToolError(
      "QUOTA_EXCEEDED",
      `Cannot restore "${trashed}": ${files.length} entries exist, at most ${entryLimits.entriesMax} allowed`,
    );
  }
  const name = entryFilesAmong([...files, { path, bytes: 0 }]).at(-1)?.name ?? shortName(path);
  const other = files.find((file) => isSame(file.name, name) || isSame(decodedName(file.path), decodedName(path)));
  if (other === undefined) return name;
  throw new ToolError("NAME_CONFLICT", `Cannot restore "${trashed}": an entry "${other.name}" exists, delete it first`);
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

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
