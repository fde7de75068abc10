/**
 * The runs that the family `run-history` keeps. Other commands know only roles, and no role has events with times and types.
 */
import { once } from "node:events";

import { trashFolder } from "../../../shared/path.ts";
import { eventTypes } from "../../../shared/run-history/event-types.ts";
import type { EventsPage, ListedRun, RunIds, RunsPage } from "../../../shared/run-history/run-history.ts";
import type { WireEvent } from "../../../shared/run-history/wire-event.ts";
import { counted, presentValue, quoted } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { count, flag, listOf, oneOf, optional, text } from "../../owner/field.ts";
import type { Runtime } from "../../runtime/api.ts";
import type { MemoryChange } from "../../values/memory-change.ts";
import { ToolError } from "../../values/tool-error.ts";
import { errorOf } from "../../values/tool-result.ts";
import { visibleJson, visibleName, visibleText } from "../../values/visible-text.ts";
import { columns } from "../columns.ts";
import { defineCommand, userField } from "../command.ts";
import type { CommandLine } from "../command.ts";
import { eventLine, jsonLine } from "../event-line.ts";
import { openForUser, refuseUnknown } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";
import type { Progress } from "../progress.ts";
import { commandLine } from "../shell-words.ts";

const family = "run-history";

const fields = {
  action: oneOf(["list", "show", "delete"], "list|show|delete", "what to do"),
  agentId: optional(text("AGENT", "the agent's id, for show and delete")),
  runId: optional(text("RUN", "the run's id, for show and delete")),
  user: optional(userField("the user whose runs they are (default: the only one)")),
  agent: optional(text("AGENT", "lists only the runs of this agent")),
  last: optional(count("N", "shows only the last N events, of those with --type if it is given")),
  types: { ...listOf(oneOf(eventTypes, "TYPE", "shows only events of this type")), flag: "type" },
  json: flag("prints JSON: list an array of runs, show an event per line"),
};

type Line = CommandLine<typeof fields>;

export const command = defineCommand({
  name: "runs",
  description: `Lists the runs of agents that the plugin "run-history" keeps for a user, shows the events of a run, or
moves a run to the trash and prints the command that brings it back.

"show" prints a line for each event, in the order of their times: the time, the type, the size of the event's data, and
what was said, or the tool with its duration and its error. On a terminal, a line is shortened to the terminal's width.
With --json, each line is an event as JSON: numbers have all their digits, and no text is shortened.`,
  fields,
  operands: ["action", "agentId", "runId"],
  settings: runtimePaths,
  examples: [
    "memcell runs list --user alice",
    "memcell runs show planner run-1 --user alice --type tool_call --type tool_result --last 20",
    "memcell runs delete planner run-1 --user alice",
  ],
  exitCodes: ["done; a run without such events is shown as none", "failed"],

  async run(line) {
    refuseOthers(line.input);
    const { action, user, json } = line.input;
    const opening = { besides: [family], isOwners: true, isReading: action !== "delete" } as const;
    await using opened = await openForUser(line, user, opening);
    const work = (progress: Progress): Promise<void> => actions[action]({ ...opened, line, progress });
    await withProgress(line.terminal, `runs ${action}`, work, json);
    return 0;
  },
});

/** Checks what belongs together before anything is opened. */
function refuseOthers({ action, agent, types, last, agentId, runId }: Line["input"]): void {
  if (agent !== undefined && action !== "list") throw new UsageError("--agent is for list");
  for (const [name, value] of Object.entries({ type: types, last })) {
    if (value !== undefined && action !== "show") throw new UsageError(`--${name} is for show`);
  }
  if (action === "list" && agentId !== undefined) {
    throw new UsageError(`unexpected argument ${presentValue(agentId)}`);
  }
  if (action === "list") return;
  if (agentId === undefined) throw new UsageError("the ids of the agent and of the run are missing");
  if (runId === undefined) throw new UsageError("the id of the run is missing");
}

/** What an action is given. */
interface Doing {
  readonly runtime: Runtime;
  readonly userId: string;
  readonly line: Line;
  readonly progress: Progress;
}

const actions = { list: listRuns, show: showRun, delete: deleteRun };

async function call<Data>({ runtime, userId }: Doing, tool: string, input: object): Promise<Data> {
  const result = await runtime.callAsHost(`${family}/${tool}`, input, { userId });
  if (!result.ok) throw errorOf(result);
  return result.data as Data;
}

async function allRuns(doing: Doing, agentId: string | undefined): Promise<ListedRun[]> {
  const runs: ListedRun[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page: RunsPage = await call(doing, "ListRuns", { agentId, after });
    runs.push(...page.entries);
    doing.progress.show(counted(runs.length, "run"));
    ({ after } = page);
  }
  return runs;
}

async function listRuns(doing: Doing): Promise<void> {
  const { runtime, userId, line, progress } = doing;
  const runs = await allRuns(doing, line.input.agent);
  if (runs.length === 0) await refuseUnknown(runtime, userId, "list the runs");
  progress.print(line.input.json ? `${visibleJson(runs)}\n` : tableOf(runs));
}

/** No id is shortened: the other actions need it in full. */
const idCharsMax = 256;

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

const idsIn = ({ input: { agentId = "", runId = "" } }: Line): RunIds => ({ agentId, runId });

/** Prints page by page. Holds one page in memory, and with `--last` at most so many events. */
async function showRun(doing: Doing): Promise<void> {
  const { line, progress } = doing;
  const { types, last, json } = line.input;
  const { stdout } = line.terminal;
  const print = async (shown: readonly WireEvent[]): Promise<void> => {
    if (shown.length === 0) return;
    const columnsMax = stdout.isTTY ? stdout.columns || Infinity : Infinity;
    const lines = shown.map((event) => (json ? jsonLine(event) : eventLine(event, columnsMax)));
    progress.print(`${lines.join("\n")}\n`);
    if (stdout.writableNeedDrain) await once(stdout, "drain");
  };
  let kept: readonly WireEvent[] = [];
  let [loaded, isEmpty, isDamaged] = [0, true, false];
  let page: EventsPage | undefined;
  do {
    page = await call<EventsPage>(doing, "LoadRun", { ...idsIn(line), cursor: page?.meta.cursor });
    const { events, meta } = page;
    const fit = events.filter(({ type }) => types === undefined || types.some((each) => each === type));
    if (last === undefined) await print(fit);
    else kept = kept.concat(fit).slice(-last);
    loaded += events.length;
    isEmpty &&= fit.length === 0;
    isDamaged ||= meta.damagedLines > 0;
    progress.show(counted(loaded, "event"));
  } while (page.more);
  if (loaded === 0 && !isDamaged) await refuseUnknownRun(doing);
  await print(kept);
  if (isEmpty && !json) progress.print("No events\n");
  if (isDamaged) progress.warn('memcell runs: some lines are no events; "memcell doctor" names them\n');
}

/** To load a run that there is not gives no events. */
async function refuseUnknownRun(doing: Doing): Promise<void> {
  const { agentId, runId } = idsIn(doing.line);
  const runs = await allRuns(doing, agentId);
  if (runs.some((run) => run.agentId === agentId && run.runId === runId)) return;
  const what = `the agent ${quoted(agentId)} has no run ${quoted(runId)}`;
  throw new ToolError("ENTRY_NOT_FOUND", `Cannot show the run: ${what}`);
}

/** Moves a run to the trash, and prints the command that brings it back. */
async function deleteRun(doing: Doing): Promise<void> {
  const { runtime, userId, line, progress } = doing;
  const changed: ChangedFile[] = [];
  const stop = runtime.onChange((change) => void changed.push(...change.files));
  const counts = await call<{ readonly files: number; readonly bytes: number }>(
    doing,
    "DeleteRun",
    idsIn(line),
  ).finally(stop);
  const { scope, name } = trashedIn(changed);
  if (line.input.json) return progress.print(`${visibleJson({ ...counts, scope, name })}\n`);
  const restore = commandLine("trash restore", { scope, user: userId }, line.settings, name);
  progress.print(
    `${counted(counts.files, "file")}, ${counts.bytes} bytes moved to the trash\nTo bring the run back: ${visibleText(restore)}\n`,
  );
}

type ChangedFile = MemoryChange["files"][number];

/** The file of a run whose folder is the run's name in the trash. */
const headName = "/run.json";

/**
 * Where a run is in the trash. `changed` has the old and the new path of each file. A damaged run can lack its head: then any
 * file names the run.
 */
function trashedIn(changed: readonly ChangedFile[]): { readonly scope: string; readonly name: string } {
  const head = changed.find(({ path }) => path.endsWith(headName));
  if (head !== undefined) return { scope: head.scope, name: head.path.slice(0, -headName.length) };
  const { scope = "", path = "" } = changed[1] ?? {};
  return { scope, name: path.slice(`${trashFolder}/`.length) };
}
