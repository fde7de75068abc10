/** Takes changes back: each file is as it was before them, unless others have changed it since. */
import { shownPath } from "../../shared/encoded-name.ts";
import { quoted } from "../../shared/text.ts";
import type { PendingWrite } from "../gate/pending.ts";
import type { Version } from "../store/versions/version.ts";
import { ToolError } from "../values/tool-error.ts";
import { endWaiting, scopeOf, waitingWrites } from "./decide.ts";
import { defineOperation } from "./define-operation.ts";
import { optional, text, time } from "./field.ts";
import type { Operation } from "./operation.ts";
import { planPart } from "./plan-undo.ts";
import type { UndonePart, UndoTask } from "./plan-undo.ts";
import { applyPlan } from "./plan.ts";
import { countsOf } from "./told.ts";
import type { RejectedWrite, UndoOptions, UndoPlan } from "./undo-plan.ts";

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
  command: {
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
    tells: (plan: UndoPlan, { isPlan }) => [...linesOf(plan), ...(isPlan || isEmpty(plan) ? [] : ["Undone"])],
    isEmpty,
    isUnfinished: ({ builtOn, left }) => builtOn.length + left.length > 0,
  },
});

function isEmpty(plan: UndoPlan): boolean {
  return Object.values(plan).every((each: readonly unknown[]) => each.length === 0);
}

function linesOf({ restored, trashed, derived, builtOn, left, waiting }: UndoPlan): string[] {
  return [
    ...restored.map((path) => `restore ${shownPath(path)}`),
    ...trashed.map((path) => `trash ${shownPath(path)}`),
    ...derived.map((path) => `update ${shownPath(path)}`),
    ...builtOn.map(({ path, versions }) => `keep ${shownPath(path)}: changed since ${changedBy(versions)}`),
    ...left.map(({ path, reason }) => `leave ${shownPath(path)}: ${reason}`),
    ...waiting.map(({ id, tool, paths }) => `reject ${id}: ${tool}, ${paths.map(shownPath).join(", ")}`),
    countsOf({ restored, "to the trash": trashed, kept: builtOn, left, rejected: waiting }) ||
      "Nothing is to be undone",
  ];
}

const changedBy = (versions: readonly number[]): string =>
  versions.length === 0 ? "by hand" : `by version ${versions.join(", ")}`;

async function planUndo(operation: Operation, options: UndoOptions): Promise<UndoPlan> {
  const planned: UndonePart[] = [];
  for (const task of tasksOf(operation, options)) planned.push(await planPart(operation, task));
  const waiting = (await waitingOf(operation, options)).map((write) => rejectedWrite(operation, write));
  refuseUnknown(operation, options, planned, waiting);
  return { ...together(planned), waiting };
}

/**
 * Each part is one change set, or several if that would be too large. The writes that wait are rejected last. If one of
 * them was approved meanwhile, it is undone as well.
 */
async function undoChanges(asked: Operation, options: UndoOptions): Promise<UndoPlan> {
  const before = await waitingOf(asked, options);
  const done = await undoParts(asked, options);
  // From the first change on, the result is told even if the caller cancels.
  const operation = done.some(hasChanged) ? asked.uncancelled() : asked;
  const waiting = await rejectAll(operation, options);
  const rejected = new Set(waiting.map(({ id }) => id));
  if (!before.every(({ id }) => rejected.has(id))) done.push(...(await undoParts(operation, options)));
  refuseUnknown(asked, options, done, waiting);
  return { ...together(done), waiting };
}

async function undoParts(asked: Operation, options: UndoOptions): Promise<UndonePart[]> {
  const done: UndonePart[] = [];
  let operation = asked;
  for (const task of tasksOf(asked, options)) {
    for (let isMore = true; isMore;) {
      const planned = await applyPlan(operation, {
        scopes: task.part,
        kind: "undone",
        plan: (inside) => planPart(inside, task),
        concerns: task.isUndone,
      });
      done.push({ ...planned, files: planned.files.filter(({ changes }) => changes.length > 0) });
      if (hasChanged(planned)) operation = asked.uncancelled();
      isMore = hasChanged(planned) && planned.isMore;
    }
  }
  return done;
}

const hasChanged = ({ changes }: UndonePart): boolean => changes.length > 0;

/** The writes of the run, or from the source, that wait. */
async function waitingOf(operation: Operation, { run, source }: UndoOptions): Promise<PendingWrite[]> {
  if (run === undefined && source === undefined) return [];
  return await waitingWrites(operation, (write) => (run === undefined ? write.source === source : write.run === run));
}

/** Nothing is held for writing, and no folder is made, if there is nothing to reject. */
async function rejectAll(operation: Operation, options: UndoOptions): Promise<RejectedWrite[]> {
  const waiting = await waitingOf(operation, options);
  if (waiting.length === 0) return [];
  const others = await endWaiting(operation, waiting, "undone");
  return waiting.filter(({ id }) => !others.has(id)).map((write) => rejectedWrite(operation, write));
}

function rejectedWrite({ tools }: Operation, { id, tool, changes }: PendingWrite): RejectedWrite {
  const places = changes.map((change) => ({ scope: scopeOf(change), path: change.path }));
  const own = places.filter((place) => !tools.isDerivedAt(place));
  return { id, tool, paths: own.map(({ scope, path }) => `${scope}/${path}`) };
}

function tasksOf(operation: Operation, options: UndoOptions): UndoTask[] {
  const ofAll = { isUndone: isOneOf(options), epochMs: operation.now() };
  return operation.parts.map((part) => ({ part, ...ofAll }));
}

function isOneOf({ run, source, since }: UndoOptions): (version: Version) => boolean {
  if (run !== undefined) return (version) => version.run === run;
  if (source !== undefined) return (version) => version.source === source;
  const sinceMs = since?.getTime() ?? Infinity;
  // An edit by hand has the time at which a change has met it: it can be older.
  return ({ atMs, kind }) => atMs >= sinceMs && kind !== "edited" && kind !== "put back";
}

/** A misspelt run would otherwise look like one that has written nothing. */
function refuseUnknown(
  { action }: Operation,
  { run, source }: UndoOptions,
  planned: readonly UndonePart[],
  waiting: readonly RejectedWrite[],
): void {
  const named = run ?? source;
  if (named === undefined || waiting.length > 0 || planned.some(({ isKnown }) => isKnown)) return;
  const origin = run === undefined ? "source" : "run";
  throw new ToolError("ENTRY_NOT_FOUND", `Cannot ${action}: no version names the ${origin} ${quoted(named)}`);
}

function together(planned: readonly UndonePart[]): Omit<UndoPlan, "waiting"> {
  const files = planned.flatMap((part) => part.files);
  const pathsOf = (outcome: "restored" | "trashed"): string[] =>
    files.filter((file) => file.outcome === outcome).map(({ scope, path }) => `${scope}/${path}`);
  return {
    restored: pathsOf("restored").toSorted(),
    trashed: pathsOf("trashed").toSorted(),
    derived: [...new Set(planned.flatMap(({ derived }) => derived))].toSorted(),
    builtOn: byPath(planned.flatMap(({ builtOn }) => builtOn)),
    left: byPath(planned.flatMap(({ left }) => left)),
  };
}

/** Sorted, each path once: what a change set leaves is found again by the next. */
function byPath<Item extends { readonly path: string }>(items: readonly Item[]): Item[] {
  const once = new Map(items.map((item) => [item.path, item]));
  return Array.from(once.values()).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
