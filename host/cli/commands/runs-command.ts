import { eventTypes } from "../../../shared/run-history/event-types.ts";
import { presentValue } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { count, flag, listOf, oneOf, optional, text } from "../../owner/field.ts";
import { defineCommand, userField } from "../command.ts";
import { openForUser } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";
import type { Progress } from "../progress.ts";
import { deleteRun } from "../runs/delete-run.ts";
import { listRuns } from "../runs/list-runs.ts";
import { RunTools, runsFamily } from "../runs/run-tools.ts";
import { showRun } from "../runs/show-run.ts";

export const runsCommand = defineCommand({
  name: "runs",
  description: `Lists the runs of agents that the plugin "run-history" keeps for a user, shows the events of a run, or
moves a run to the trash and prints the command that brings it back.

"show" prints a line for each event, in the order of their times: the time, the type, the size of the event's data, and
what was said, or the tool with its duration and its error. On a terminal, a line is shortened to the terminal's width.
With --json, each line is an event as JSON: numbers have all their digits, and no text is shortened.`,
  fields: {
    action: oneOf(["list", "show", "delete"], "list|show|delete", "what to do"),
    agentId: optional(text("AGENT", "the agent's id, for show and delete")),
    runId: optional(text("RUN", "the run's id, for show and delete")),
    user: optional(userField("the user whose runs they are (default: the only one)")),
    agent: optional(text("AGENT", "lists only the runs of this agent")),
    last: optional(count("N", "shows only the last N events, of those with --type if it is given")),
    types: { ...listOf(oneOf(eventTypes, "TYPE", "shows only events of this type")), flag: "type" },
    json: flag("prints JSON: list an array of runs, show an event per line"),
  },
  operands: ["action", "agentId", "runId"],
  settings: runtimePaths,
  examples: [
    "memcell runs list --user alice",
    "memcell runs show planner run-1 --user alice --type tool_call --type tool_result --last 20",
    "memcell runs delete planner run-1 --user alice",
  ],
  exitCodes: ["done; a run without such events is shown as none", "failed"],

  async run({ input, settings, terminal }) {
    refuseOthers(input);
    const { action, agent, user, json = false } = input;
    const opening = { besides: [runsFamily], isOwners: true, isReading: action !== "delete" } as const;
    await using opened = await openForUser({ settings, terminal }, user, opening);
    const { runtime, userId } = opened;
    const tools = new RunTools(runtime, { userId });
    const work = async (progress: Progress): Promise<void> => {
      const output = { terminal, progress, isJson: json };
      if (action === "list") return await listRuns(tools, agent, output);
      const { agentId = "", runId = "", types, last } = input;
      if (action === "show") return await showRun(tools, { agentId, runId }, { types, last }, output);
      await deleteRun(tools, { agentId, runId }, { userId, settings }, output);
    };
    await withProgress(terminal, `runs ${action}`, work, json);
    return 0;
  },
});

/** Checks what belongs together before anything is opened. */
function refuseOthers(input: Readonly<Record<string, unknown>>): void {
  const { action } = input;
  const others = {
    agent: ["list"],
    types: ["show"],
    last: ["show"],
    agentId: ["show", "delete"],
  };
  for (const [name, actions] of Object.entries(others)) {
    if (input[name] === undefined || actions.includes(String(action))) continue;
    if (name === "agentId") throw new UsageError(`unexpected argument ${presentValue(input[name])}`);
    throw new UsageError(`--${name === "types" ? "type" : name} is for ${actions.join(" and ")}`);
  }
  if (action === "list") return;
  if (input["agentId"] === undefined) throw new UsageError("the ids of the agent and of the run are missing");
  if (input["runId"] === undefined) throw new UsageError("the id of the run is missing");
}
