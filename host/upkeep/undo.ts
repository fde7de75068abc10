/** Takes changes back: each file is as it was before them, unless others have changed it since. */
import { quoted } from "../../shared/text.ts";
import { scopeOf } from "../gate/pending-write.ts";
import type { PendingWrite } from "../gate/pending-write.ts";
import { listPending } from "../gate/pending-writes.ts";
import type { Version } from "../store/versions/version.ts";
import { ToolError } from "../values/tool-error.ts";
import { commitPlanned } from "./commit-planned.ts";
import type { Operation } from "./operation.ts";
import { planPart } from "./undo-part.ts";
import type { PartTask, PlannedPart } from "./undo-part.ts";
import type { RejectedWrite, UndoOptions, UndoPlan } from "./undo-plan.ts";

export async function planUndo(operation: Operation, options: UndoOptions): Promise<UndoPlan> {
  const planned: PlannedPart[] = [];
  for (const task of await tasksOf(operation, options)) planned.push(await planPart(operation, task));
  const waiting = await waitingOf(operation, options, { writes: false });
  refuseUnknown(operation, options, planned, waiting);
  return { ...together(planned), waiting };
}

/** Each part is one change set, or several if that would be too large. The writes that wait are rejected last, one by one. */
export async function undoChanges(asked: Operation, options: UndoOptions): Promise<UndoPlan> {
  const done: PlannedPart[] = [];
  let operation = asked;
  for (const task of await tasksOf(asked, options)) {
    for (let isMore = true; isMore;) {
      const { scopes } = task;
      const planned = await commitPlanned(operation, { scopes, kind: "undone" }, () => planPart(operation, task));
      const hasChanged = planned.changes.length > 0;
      done.push({ ...planned, files: planned.files.filter(({ changes }) => changes.length > 0) });
      // From now on, the result is told even if the caller cancels.
      if (hasChanged) operation = asked.uncancelled();
      isMore = hasChanged && planned.isMore;
    }
  }
  const waiting = await waitingOf(operation, options, { writes: true });
  refuseUnknown(asked, options, done, waiting);
  return { ...together(done), waiting };
}

/** The writes of the run, or from the source, that wait. `writes`: they are dropped. */
async function waitingOf(
  operation: Operation,
  { run, source }: UndoOptions,
  { writes }: { readonly writes: boolean },
): Promise<RejectedWrite[]> {
  if (run === undefined && source === undefined) return [];
  const isOne = (write: PendingWrite): boolean => (run === undefined ? write.source === source : write.run === run);
  const waiting = await operation.holdRecords({ writes: false }, (records) =>
    listPending(records, operation.now(), (write) => (isOne(write) ? rejected(write) : null)),
  );
  // Nothing is held for writing, and no folder is made, if there is nothing to drop.
  if (writes && waiting.length > 0) {
    await operation.holdRecords({ writes: true }, async (records) => {
      for (const { id } of waiting) await records.remove("pending", id);
    });
  }
  return waiting;
}

const rejected = ({ id, tool, changes }: PendingWrite): RejectedWrite => {
  const paths = changes.map((change) => `${scopeOf(change)}/${change.path}`);
  return { id, tool, paths };
};

async function tasksOf(operation: Operation, options: UndoOptions): Promise<PartTask[]> {
  const parts = await operation.parts();
  const ofAll = { apart: new Set(parts.flat()), isUndone: isOneOf(options), epochMs: operation.now() };
  return parts.map((scopes) => Object.assign({ scopes }, ofAll));
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
  planned: readonly PlannedPart[],
  waiting: readonly RejectedWrite[],
): void {
  const named = run ?? source;
  if (named === undefined || waiting.length > 0 || planned.some(({ isKnown }) => isKnown)) return;
  const origin = run === undefined ? "source" : "run";
  throw new ToolError("ENTRY_NOT_FOUND", `Cannot ${action}: no version names the ${origin} ${quoted(named)}`);
}

function together(planned: readonly PlannedPart[]): Omit<UndoPlan, "waiting"> {
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
