import { parseTrashPath } from "../../shared/path.ts";
import type { RestoreOutput } from "../../shared/roles.ts";
import { counted, quoted } from "../../shared/text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { filesIn, runFileAt, runs } from "./run-files.ts";

/**
 * Puts a file of a deleted run back, and names the files that were deleted with it: the host moves them back in the same
 * commit, without their passing through this call.
 */
export function restoreRun(trashed: string): Answer<RestoreOutput> {
  const path = parseTrashPath(trashed)?.path ?? "";
  const file = runFileAt(path);
  const text = file && runs.read(trashed);
  if (file === null || text === null) {
    throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore ${quoted(trashed)}: it is no file of a deleted run`);
  }
  if (filesIn(file.folder).some((each) => runFileAt(each.path) !== null)) {
    const message = `Cannot restore ${quoted(trashed)}: the run has been begun again, delete it first`;
    throw new ToolError("NAME_CONFLICT", message);
  }
  runs.write(path, text);
  const stamp = stampOf(trashed);
  const others = runs.list(`trash/${file.folder}/`).flatMap((each) => {
    const other = parseTrashPath(each.path);
    const isTogether = each.path !== trashed && stampOf(each.path) === stamp;
    return isTogether && other !== null && runFileAt(other.path) !== null
      ? [{ trashed: each.path, path: other.path }]
      : [];
  });
  return { message: `${counted(others.length + 1, "file")} of the run restored`, data: { path, others } };
}

/** All files of one deletion have the same stamp. */
const stampOf = (trashed: string): string => /\.(\d{8}T\d{9}Z(?:-\d+)?)\.[^./]+$/.exec(trashed)?.[1] ?? "";
