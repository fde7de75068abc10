import { eventTypes, isEventType } from "../../../shared/run-history/event-types.ts";
import type { EventType } from "../../../shared/run-history/event-types.ts";
import { quoted } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { defineCommand } from "../command.ts";
import type { CommandLine } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";
import { deleteRun } from "../runs/delete-run.ts";
import { listRuns } from "../runs/list-runs.ts";
import { RunTools, runsFamily } from "../runs/run-tools.ts";
import type { RunIds } from "../runs/run-tools.ts";
import { showRun } from "../runs/show-run.ts";
import type { RunOutput } from "../runs/show-run.ts";

export const runsCommand = defineCommand({
  name: "runs",
  description: `Lists the runs of agents that the plugin "run-history" keeps for a user, shows the events of a run, or
moves a run to the trash and prints the command that brings it back.

"show" prints a line for each event, in the order of their times: the time, the type, the size of the event's data, and
what was said, or the tool with its duration and its error. On a terminal, a line is shortened to the terminal's width.
With --json, each line is an event as JSON: numbers have all their digits, and no text is shortened.`,
  operands: {
    "<list|show|delete>": "what to do",
    "[AGENT]": "the agent's id, for show and delete",
    "[RUN]": "the run's id, for show and delete",
  },
  requiredTexts: { user: ["ID", "the user whose runs they are"] },
  texts: {
    agent: ["AGENT", "lists only the runs of this agent"],
    last: ["N", "shows only the last N events, of those with --type if it is given"],
  },
  lists: { type: ["TYPE", `shows only events of this type: ${eventTypes.join(", ")}`] },
  flags: { json: "prints JSON: list an array of runs, show an event per line" },
  settings: runtimePaths,
  examples: [
    "memcell runs list --user alice",
    "memcell runs show planner run-1 --user alice --type tool_call --type tool_result --last 20",
    "memcell runs delete planner run-1 --user alice",
  ],
  exitCodes: [
    "0 done; a run without such events is shown as none",
    "1 failed, with the error as JSON on standard output",
  ],

  async run(line) {
    const { operands, options, terminal } = line;
    const perform = performerOf(line);
    await using runtime = await openRuntime(line, options.user, {
      besides: [runsFamily],
      isOwners: true,
      isReading: operands[0] !== "delete",
    });
    const tools = new RunTools(runtime, { userId: options.user });
    const isJson = options.json === true;
    await withProgress(
      terminal,
      `runs ${operands[0]}`,
      (progress) => perform(tools, { terminal, progress, isJson }),
      isJson,
    );
    return 0;
  },
});

/** Returns the action to perform. Checks the whole command line before anything is opened. */
function performerOf({
  operands: [action, agentId, runId],
  options: { user, agent, last, type: types, json },
  settings,
}: CommandLine<"agent" | "last", "json", "type", "user">): (tools: RunTools, output: RunOutput) => Promise<void> {
  if (action !== "list" && agent !== undefined) throw new UsageError("--agent is for list");
  if (action !== "show" && types !== undefined) throw new UsageError("--type is for show");
  if (action !== "show" && last !== undefined) throw new UsageError("--last is for show");
  if (action === "delete" && json) throw new UsageError("--json is for list and show");
  switch (action) {
    case "list":
      if (agentId !== undefined) throw new UsageError(`unexpected argument "${agentId}"`);
      return (tools, output) => listRuns(tools, agent, output);
    case "show": {
      const ids = idsOf(agentId, runId);
      const selection = { types: types?.map(checkType), last: last === undefined ? undefined : countIn(last) };
      return (tools, output) => showRun(tools, ids, selection, output);
    }
    case "delete": {
      const ids = idsOf(agentId, runId);
      return (tools, output) => deleteRun(tools, ids, { userId: user, settings }, output);
    }
    case undefined:
    default:
      throw new UsageError(`no action "${action}", allowed: list, show, delete`);
  }
}

/** An id can be empty here: the tools refuse it. */
function idsOf(agentId: string | undefined, runId: string | undefined): RunIds {
  if (agentId === undefined) throw new UsageError("the ids of the agent and of the run are missing");
  if (runId === undefined) throw new UsageError("the id of the run is missing");
  return { agentId, runId };
}

function checkType(text: string): EventType {
  if (isEventType(text)) return text;
  throw new UsageError(`--type is ${quoted(text)}, allowed: ${eventTypes.join(", ")}`);
}

function countIn(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(`--last is ${quoted(text)}, allowed: a whole number from 1 to 999999`);
}
