/** Prints a user's runs. */
import { counted } from "../../../shared/text.ts";
import { visibleJson, visibleName } from "../../values/visible-text.ts";
import { columns } from "../columns.ts";
import type { ListedRun, RunTools } from "./run-tools.ts";
import type { RunOutput } from "./show-run.ts";

/** No id is shortened: the other actions need it in full. */
const idCharsMax = 256;

export async function listRuns(
  tools: RunTools,
  agentId: string | undefined,
  { progress, isJson }: RunOutput,
): Promise<void> {
  const runs: ListedRun[] = [];
  for await (const page of tools.list(agentId)) {
    runs.push(...page);
    progress.show(counted(runs.length, "run"));
  }
  if (runs.length === 0) await tools.refuseUnknownUser();
  progress.print(isJson ? `${visibleJson(runs)}\n` : tableOf(runs));
}

function tableOf(runs: readonly ListedRun[]): string {
  if (runs.length === 0) return "No runs\n";
  const rows = runs.map(({ agentId, runId, events, firstAt, lastAt, bytes }) => [
    visibleName(agentId, idCharsMax),
    visibleName(runId, idCharsMax),
    String(events),
    firstAt,
    lastAt,
    `${bytes} bytes`,
  ]);
  return columns([["agent", "run", "events", "first", "last", "size"], ...rows], { numbers: [2, 5] });
}
