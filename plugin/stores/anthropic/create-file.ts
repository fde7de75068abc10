/** The command `create`. It never overwrites. */
import { trashedNote } from "../../kit/damaged-text.ts";
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { done } from "../change-entry.ts";
import type { Changed } from "../change-entry.ts";
import { refuseHiddenKey } from "../memory-path.ts";
import { refuseHidden, valueFrom } from "../value.ts";
import { parseFilePath } from "./file-path.ts";
import { OwnFiles } from "./own-files.ts";
import type { CreateInput } from "./schemas.ts";

export function createFile({ path, file_text: text }: CreateInput): Answer<Changed> {
  const place = parseFilePath(path);
  refuseHiddenKey(place.key);
  refuseHidden("file_text", text);
  const files = new OwnFiles();
  const { at, self } = files;
  if (files.find(place) !== null) throw new ToolError("NAME_CONFLICT", `Error: File ${place.shown} already exists`);
  files.refuseBelowFile(place);
  const id = { owner: self, isInternal: false, namespace: "", key: place.key };
  const value = valueFrom(text);
  const trashed = at.write({ ...id, encrypted: false, created: at.now, updated: at.now, expires: null, value }, null);
  at.saveIndex();
  return done(`File created successfully at: ${place.shown}${trashedNote(trashed)}`);
}
