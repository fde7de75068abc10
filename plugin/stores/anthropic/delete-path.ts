/** The command `delete`: a file, or a folder with all that is in it. Both go to the trash. */
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { done } from "../change-entry.ts";
import type { Changed } from "../change-entry.ts";
import { parseFilePath, refuseRoot } from "./file-path.ts";
import { OwnFiles } from "./own-files.ts";
import type { PathInput } from "./schemas.ts";

export function deletePath({ path }: PathInput): Answer<Changed> {
  const place = parseFilePath(path);
  refuseRoot(place, "delete");
  const files = new OwnFiles();
  const named = files.find(place);
  if (named === null) throw new ToolError("ENTRY_NOT_FOUND", `Error: The path ${place.shown} does not exist`);
  const entries = named.folder ? files.ownIn(named.folder, place) : [files.ownOf(named.entries, place)];
  for (const entry of entries) files.at.trash(entry);
  files.at.saveIndex();
  return done(`Successfully deleted ${place.shown}`);
}
