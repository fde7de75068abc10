/** What `str_replace` and `insert` have in common: one file of the caller's own, whose text changes. */
import { ToolError } from "../../kit/tool-error.ts";
import type { FoundEntry } from "../entry-store.ts";
import { checkValue, typeOfValue } from "../value.ts";
import { parseFilePath } from "./file-path.ts";
import type { FilePath } from "./file-path.ts";
import { OwnFiles } from "./own-files.ts";

export interface EditedFile {
  readonly files: OwnFiles;
  readonly place: FilePath;
  readonly entry: FoundEntry;
}

/** Throws `ENTRY_NOT_FOUND` with the message that `missing` makes of the path, also for a folder. */
export function fileToEdit(path: string, missing: (shown: string) => string): EditedFile {
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
export function writeText({ files: { at }, entry }: EditedFile, content: string): void {
  const value = { format: "text", content } as const;
  checkValue(value);
  at.write({ ...entry, value, updated: at.now }, entry);
  at.saveIndex();
}
