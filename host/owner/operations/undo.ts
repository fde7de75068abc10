import { shownPath } from "../../../shared/encoded-name.ts";
import { defineOperation } from "../define-operation.ts";
import { optional, text, time } from "../field.ts";
import type { UndoOptions, UndoPlan } from "../undo-plan.ts";
import { planUndo, undoChanges } from "../undo.ts";

export const undo = defineOperation({
  name: "undo",
  action: "undo changes",
  changes: true,
  fields: {
    run: optional(text("ID", 'undoes what this run of an agent has changed, as "memcell sources" shows it')),
    source: optional(text("SOURCE", "undoes what came from this source, such as the address of a page")),
    since: optional(
      time("TIME", "undoes everything since a time such as 2026-11-26T10:00:00Z, or an age: 2h is two hours", "ago"),
    ),
  },
  check: ({ run, source, since }: UndoOptions) => {
    const given = [run, source, since].filter((each) => each !== undefined);
    if (given.includes("")) return "run or source is empty; expected a text";
    return given.length === 1 ? null : `${given.length || "none"} of run, source and since are given; expected one`;
  },
  run: undoChanges,
  plan: { name: "planUndo", action: "plan an undo", changes: true, run: planUndo },
  commands: [
    {
      name: "undo",
      summary: "takes back what a run, a source, or everything since a time has changed",
      description: `Takes back what a run of an agent has changed, or what came from a source, or everything since a time.

Each file gets the content back that it had, also if it was deleted or moved; a file that was not there goes to the trash. Indexes
are made to fit. If others have changed a file since, it stays as it is and is listed. Suggestions of the run, or from the source,
that still wait are rejected. If the command is killed, the same command does what is missing.

What a run has written in other people's stores stays.`,
      examples: [
        "memcell undo --run run-7",
        "memcell undo --source https://example.com/ --yes",
        "memcell undo --since 2h",
      ],
      exitCodes: [
        "undone; without --yes: the plan is shown",
        "failed; or something could not be undone, or others have built on it",
      ],
      tells: (plan: UndoPlan, { isPlan }) => [...linesOf(plan), ...(isPlan ? [] : ["Undone"])],
      isEmpty: (plan) => Object.values(plan).every((each: readonly unknown[]) => each.length === 0),
      isUnfinished: ({ builtOn, left }) => builtOn.length + left.length > 0,
    },
  ],
});

function linesOf({ restored, trashed, derived, builtOn, left, waiting }: UndoPlan): string[] {
  return [
    ...restored.map((path) => `restore ${shownPath(path)}`),
    ...trashed.map((path) => `trash ${shownPath(path)}`),
    ...derived.map((path) => `update ${shownPath(path)}`),
    ...builtOn.map(({ path, versions }) => `keep ${shownPath(path)}: changed since ${changedBy(versions)}`),
    ...left.map(({ path, reason }) => `leave ${shownPath(path)}: ${reason}`),
    ...waiting.map(({ id, tool, paths }) => `reject ${id}: ${tool}, ${paths.map(shownPath).join(", ")}`),
    `${restored.length} restored, ${trashed.length} to the trash, ${builtOn.length} kept, ${left.length} left, ${waiting.length} rejected`,
  ];
}

const changedBy = (versions: readonly number[]): string =>
  versions.length === 0 ? "by hand" : `by version ${versions.join(", ")}`;
