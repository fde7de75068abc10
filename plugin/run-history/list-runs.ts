/** Lists the runs of a user, sorted by folder, in pages. */
import type { ListedFile } from "../../shared/abi.ts";
import type { Answer } from "../serve-tool.ts";
import { rebuildRun } from "./find-run.ts";
import { headName, readOrEmpty, runFileAt, runs } from "./run-files.ts";
import { joinSpans, parseHead } from "./run-head.ts";
import type { RunHead } from "./run-head.ts";
import { runLimits } from "./run-limits.ts";
import { folderNameOf, idOf } from "./run-path.ts";
import type { ListedRun, ListInput, ListOutput } from "./schemas.ts";

/** `after`: the name of the last run of the page before. */
export function listRuns({ agentId, after }: ListInput): Answer<ListOutput> {
  const bytes = bytesByFolder(runs.list());
  const folders = [...bytes.keys()]
    .toSorted()
    .filter((folder) => after === undefined || folder > after)
    .filter((folder) => agentId === undefined || folder.startsWith(`${folderNameOf(agentId)}/`));
  const page = folders.slice(0, runLimits.runsListedMax);
  const entries = page.flatMap((folder) => {
    const head = headOf(folder);
    return head === null ? [] : [describe(folder, head, bytes.get(folder) ?? 0)];
  });
  return {
    message: `${entries.length} ${entries.length === 1 ? "run" : "runs"}${folders.length > page.length ? ", more follow" : ""}`,
    data: { entries, after: folders.length > page.length ? (page.at(-1) ?? null) : null },
  };
}

/** The bytes of each folder that has a file of this family. */
export function bytesByFolder(files: readonly ListedFile[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { path, bytes } of files) {
    const folder = runFileAt(path)?.folder;
    if (folder !== undefined) found.set(folder, (found.get(folder) ?? 0) + bytes);
  }
  return found;
}

/** The head of a run, made from its events if it is missing or damaged; `null` if nothing tells the run's ids. */
export function headOf(folder: string): RunHead | null {
  const head = parseHead(readOrEmpty(`${folder}/${headName}`));
  if (head !== null) return head;
  const [agentId, runId] = folder.split("/").map(idOf);
  return typeof agentId === "string" && typeof runId === "string"
    ? (rebuildRun({ agentId, runId }, folder)?.head ?? null)
    : null;
}

function describe(folder: string, head: RunHead, bytes: number): ListedRun {
  const { lines: events, firstAt, lastAt } = joinSpans(head.closed, head.open);
  const { agentId, runId } = head;
  const description = `${events} ${events === 1 ? "event" : "events"}, ${firstAt} to ${lastAt}`;
  return { name: folder, description, agentId, runId, events, firstAt, lastAt, bytes };
}

/** The largest runs, for a message. */
export function largestRuns(count: number): string[] {
  const bytes = bytesByFolder(runs.list());
  return [...bytes]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([folder, size]) => `"${folder}" (${size} bytes)`);
}
