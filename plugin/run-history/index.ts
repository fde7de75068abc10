/** The plugin's exports: one function for each tool that `family.ts` declares. Wiring only. */
import { rehearseInput } from "../parse-input.ts";
import { inspectInput, restoreInput } from "../role-inputs.ts";
import { serveTool } from "../serve-tool.ts";
import { appendEvents } from "./append-events.ts";
import { deleteRun } from "./delete-run.ts";
import { inspectRuns } from "./inspect-runs.ts";
import { listRuns } from "./list-runs.ts";
import { loadRun } from "./load-run.ts";
import { readRunHistory } from "./read-run-history.ts";
import { restoreRun } from "./restore-run.ts";
import { appendInput, deleteInput, historyInput, listInput, loadInput } from "./schemas.ts";

rehearseInput(appendInput, { agentId: "a", runId: "a", events: [{}], appendId: "a" });
rehearseInput(loadInput, { agentId: "a", runId: "a", cursor: "a" });
rehearseInput(historyInput, { agentId: "a", runId: "a", types: ["thinking"], last: 1, charsMax: 500 });

export function append_run_events(): number {
  return serveTool("AppendRunEvents", appendInput, appendEvents);
}

export function load_run(): number {
  return serveTool("LoadRun", loadInput, loadRun);
}

export function read_run_history(): number {
  return serveTool("ReadRunHistory", historyInput, readRunHistory);
}

export function list_runs(): number {
  return serveTool("ListRuns", listInput, listRuns);
}

export function delete_run(): number {
  return serveTool("DeleteRun", deleteInput, deleteRun);
}

export function inspect_runs(): number {
  return serveTool("InspectRuns", inspectInput, inspectRuns);
}

export function restore_run(): number {
  return serveTool("RestoreRun", restoreInput, ({ trashed }) => restoreRun(trashed));
}
