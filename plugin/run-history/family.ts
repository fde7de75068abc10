/**
 * Declares this family. The build derives the manifest from it; it is not part of the guest.
 *
 * A model reads the descriptions when it chooses a tool.
 */
import type { Family } from "../../shared/manifest.ts";
import { inspectOutput, restoreOutput } from "../../shared/roles.ts";
import { runHistoryCodes } from "../../shared/run-history/event-fault.ts";
import { inspectInput, restoreInput } from "../kit/inputs.ts";
import {
  appendInputDeclared,
  appendOutput,
  deleteInput,
  deleteOutput,
  historyInput,
  historyOutput,
  listInput,
  listOutput,
  loadInput,
  loadOutput,
} from "./schemas.ts";

export const family: Family = {
  name: "run-history",
  version: "0.1.0",
  instructions:
    "The run history is the record of what happened in agents' runs: messages, tool calls, results and notes, which the " +
    "program writes and no tool changes. With ReadRunHistory, read the latest events of a run, by the ids of its agent " +
    "and of the run, to continue it or to look up what is no longer in front of you. Use it for what was said and done, " +
    "not to remember something for later.",
  tools: [
    {
      name: "ReadRunHistory",
      export: "read_run_history",
      audience: "model",
      description:
        "Reads earlier events of one run of an agent: messages, tool calls and their results, notes, thoughts. " +
        "Returns the latest ones, of all types or of some, and says how much it has left out or cut. " +
        "Ask for fewer events, or for some types, to see long texts in full.",
      input: historyInput,
      output: historyOutput,
      scopes: ["runs"],
      rights: ["read", "list"],
    },
    {
      name: "AppendRunEvents",
      export: "append_run_events",
      audience: "host",
      description:
        "Appends events to a run of an agent: all of them, next to each other, or none. Begins the run if there is " +
        "none. With an appendId, a repeated append stores nothing.",
      input: appendInputDeclared,
      output: appendOutput,
      scopes: ["runs"],
      // Append ids that are not UTF-8 text go to the trash before they are written again.
      rights: ["read", "list", "write", "trash", "clock"],
    },
    {
      name: "LoadRun",
      export: "load_run",
      audience: "host",
      description:
        "The events of a run in the order of time, in pages, or only those that are new since an earlier load. " +
        "A run that does not exist has no events. Reads only.",
      input: loadInput,
      output: loadOutput,
      scopes: ["runs"],
      rights: ["read", "list"],
    },
    {
      name: "ListRuns",
      role: "entries",
      entryFile: "{name}/run.json",
      export: "list_runs",
      audience: "host",
      description: "The runs of the caller, each with its number of events, their times and its size. Reads only.",
      input: listInput,
      output: listOutput,
      scopes: ["runs"],
      rights: ["read", "list"],
    },
    {
      name: "DeleteRun",
      export: "delete_run",
      audience: "host",
      description: "Moves all files of a run to the trash, where they can be restored together.",
      input: deleteInput,
      output: deleteOutput,
      scopes: ["runs"],
      rights: ["list", "trash"],
    },
    {
      name: "InspectRuns",
      role: "inspect",
      export: "inspect_runs",
      audience: "host",
      description: "Reports damaged lines and unused files of the caller's runs, and mends the facts about them.",
      input: inspectInput,
      output: inspectOutput,
      scopes: ["runs"],
      rights: ["read", "list", "write", "trash"],
    },
    {
      name: "RestoreRun",
      role: "restore",
      export: "restore_run",
      audience: "host",
      description: "Puts a deleted run back.",
      input: restoreInput,
      output: restoreOutput,
      scopes: ["runs"],
      rights: ["read", "list", "write"],
    },
  ],
  // A type mismatch is a fault of a program's decoder.
  errors: runHistoryCodes.filter(({ code }) => code !== "EVENT_TYPE_MISMATCH"),
};
