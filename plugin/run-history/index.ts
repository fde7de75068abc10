/** The plugin's exports: one function for each tool that `family.ts` declares. Wiring only. */
import { inspectInput, restoreInput } from "../kit/inputs.ts";
import { serveHostTool, serveProgram, serveTool } from "../kit/serve-tool.ts";
import { appendEvents } from "./append-events.ts";
import { deleteRun } from "./delete-run.ts";
import { inspectRuns } from "./inspect-runs.ts";
import { listRuns } from "./list-runs.ts";
import { loadRun } from "./load-run.ts";
import { readRunHistory } from "./read-run-history.ts";
import { restoreRun } from "./restore-run.ts";
import { appendInput, deleteInput, historyInput, listInput, loadInput } from "./schemas.ts";

export const append_run_events = serveHostTool("AppendRunEvents", appendInput, appendEvents);

export const load_run = serveProgram("LoadRun", loadInput, loadRun);

export const read_run_history = serveTool("ReadRunHistory", historyInput, readRunHistory);

export const list_runs = serveProgram("ListRuns", listInput, listRuns);

export const delete_run = serveHostTool("DeleteRun", deleteInput, deleteRun);

export const inspect_runs = serveHostTool("InspectRuns", inspectInput, inspectRuns);

export const restore_run = serveHostTool("RestoreRun", restoreInput, ({ trashed }) => restoreRun(trashed));
