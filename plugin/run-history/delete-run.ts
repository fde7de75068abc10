import { counted, quoted } from "../../shared/text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { filesIn, runFileAt, runs } from "./run-files.ts";
import { checkIds, folderOf } from "./run-ids.ts";
import type { DeleteInput, DeleteOutput } from "./schemas.ts";

/** Moves all files of a run to the trash, where the host can restore them together. */
export function deleteRun(ids: DeleteInput): Answer<DeleteOutput> {
  checkIds("DeleteRun", ids);
  const files = filesIn(folderOf(ids)).filter(({ path }) => runFileAt(path) !== null);
  if (files.length === 0) {
    const { agentId, runId } = ids;
    throw new ToolError("RUN_NOT_FOUND", `Cannot delete the run ${quoted(runId)} of ${quoted(agentId)}: there is none`);
  }
  for (const { path } of files) runs.trash(path);
  const bytes = files.reduce((sum, each) => sum + each.bytes, 0);
  return {
    message: `Run moved to the trash: ${counted(files.length, "file")}, ${bytes} bytes`,
    data: { files: files.length, bytes },
  };
}
