import type { Answer } from "../kit/serve-tool.ts";
import { entryNotFound, refuseReservedName } from "./entry-name.ts";
import { describedBy, loadIndex, saveIndex } from "./load-index.ts";
import { loadEntry, memory } from "./memory-scope.ts";
import { refuseStaleWrite } from "./refuse-stale-write.ts";
import type { DeleteInput, UpdateUserMemoryOutput } from "./schemas/update.ts";

/**
 * Moves an entry's file to the trash and removes its line from the index. If the file was removed by hand, only the
 * line is removed.
 */
export function deleteEntry(input: DeleteInput): Answer<UpdateUserMemoryOutput> {
  const { name } = input;
  refuseReservedName(name);
  const { path: place, entry: found } = loadEntry(name);
  refuseStaleWrite(input, found);
  const hasFile = found !== null;
  const index = loadIndex();
  const path = hasFile ? place : index.pathOfLine(name);
  if (path === null) throw entryNotFound(name);

  const trashed = hasFile ? memory.trash(path) : null;
  index.remove(path, describedBy(found, name));
  const indexKept = saveIndex(index);

  const where = trashed === null ? "; its file was already gone" : `; its file is now ${trashed}`;
  return {
    message: `Memory entry "${name}" deleted${where}${indexKept}`,
    data: { name, outcome: "deleted", path, trashed },
    shows: [],
  };
}
