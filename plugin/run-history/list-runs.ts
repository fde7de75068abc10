/** Lists the runs of a user, sorted by folder, in pages. */
import type { ListedFile } from "../../shared/abi.ts";
import { counted, utf8Bytes } from "../../shared/text.ts";
import type { Answer } from "../kit/serve-tool.ts";
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
    .filter((folder) => agentId === undefined || isOf(agentId, folder));
  const entries: ListedRun[] = [];
  let room: number = runLimits.pageBytesMax;
  let read = 0;
  for (const folder of folders.slice(0, runLimits.runsListedMax)) {
    const head = headOf(folder);
    const entry = head === null ? null : describe(folder, head, bytes.get(folder) ?? 0);
    room -= entry === null ? 0 : utf8Bytes(JSON.stringify(entry)) + 1;
    if (room < 0) break;
    if (entry !== null) entries.push(entry);
    read += 1;
  }
  const isMore = read < folders.length;
  return {
    message: `${counted(entries.length, "run")}${isMore ? ", more follow" : ""}`,
    data: { entries, after: isMore ? (folders[read - 1] ?? null) : null },
  };
}

/** No agent has an id with a lone surrogate, and such an id has no folder name. */
const isOf = (agentId: string, folder: string): boolean =>
  agentId.isWellFormed() && folder.startsWith(`${folderNameOf(agentId)}/`);

/** The bytes of each folder that has a file of this family. */
function bytesByFolder(files: readonly ListedFile[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { path, bytes } of files) {
    const folder = runFileAt(path)?.folder;
    if (folder !== undefined) found.set(folder, (found.get(folder) ?? 0) + bytes);
  }
  return found;
}

/** The head of a run, made from its events if it is missing or damaged; `null` if nothing tells the run's ids. */
function headOf(folder: string): RunHead | null {
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
  const times = firstAt === "" ? "" : `, ${firstAt} to ${lastAt}`;
  const description = `${counted(events, "event")}${times}`;
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
