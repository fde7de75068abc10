/** Takes changes back: each file is as it was before them, unless others have changed it since. */
import { isTrashPath } from "../../shared/path.ts";
import type { RefusedPath } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import type { PendingWrite } from "../gate/pending.ts";
import type { Version } from "../store/versions/version.ts";
import { placeKey } from "../values/change-set.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { ToolError, asToolError, reasonOf } from "../values/tool-error.ts";
import { commitPlanned } from "./commit-planned.ts";
import type { PlannedChanges } from "./commit-planned.ts";
import { endWaiting, scopeOf, waitingWrites } from "./decide.ts";
import { derivedChanges } from "./derived-changes.ts";
import type { DerivedChanges } from "./derived-changes.ts";
import { endingCodes } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { planUndone } from "./plan-undo.ts";
import type { UndoneFile, UndonePart, UndoTask } from "./plan-undo.ts";
import type { RejectedWrite, UndoOptions, UndoPlan, LeftFile } from "./undo-plan.ts";
import { holdPart } from "./user-scopes.ts";

export async function planUndo(operation: Operation, options: UndoOptions): Promise<UndoPlan> {
  const planned: PlannedPart[] = [];
  for (const task of await tasksOf(operation, options)) planned.push(await planPart(operation, task));
  const waiting = await waitingOf(operation, options);
  refuseUnknown(operation, options, planned, waiting);
  return { ...together(planned), waiting };
}

/**
 * Each part is one change set, or several if that would be too large. The writes that wait are rejected last. If one of
 * them was approved meanwhile, it is undone as well.
 */
export async function undoChanges(asked: Operation, options: UndoOptions): Promise<UndoPlan> {
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

async function undoParts(asked: Operation, options: UndoOptions): Promise<PlannedPart[]> {
  const done: PlannedPart[] = [];
  let operation = asked;
  for (const task of await tasksOf(asked, options)) {
    for (let isMore = true; isMore;) {
      const planned = await commitPlanned(operation, {
        scopes: task.scopes,
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

const hasChanged = ({ changes }: PlannedPart): boolean => changes.length > 0;

/** The writes of the run, or from the source, that wait. */
async function waitingOf(operation: Operation, options: UndoOptions): Promise<RejectedWrite[]> {
  return (await waitingIn(operation, options)).map(rejectedWrite);
}

async function waitingIn(operation: Operation, { run, source }: UndoOptions): Promise<PendingWrite[]> {
  if (run === undefined && source === undefined) return [];
  return await waitingWrites(operation, (write) => (run === undefined ? write.source === source : write.run === run));
}

/** Nothing is held for writing, and no folder is made, if there is nothing to reject. */
async function rejectAll(operation: Operation, options: UndoOptions): Promise<RejectedWrite[]> {
  const waiting = await waitingIn(operation, options);
  if (waiting.length === 0) return [];
  const others = await endWaiting(operation, waiting, "undone");
  return waiting.filter(({ id }) => !others.has(id)).map(rejectedWrite);
}

const rejectedWrite = ({ id, tool, changes }: PendingWrite): RejectedWrite => ({
  id,
  tool,
  paths: changes.map((change) => `${scopeOf(change)}/${change.path}`),
});

async function tasksOf(operation: Operation, options: UndoOptions): Promise<PartTask[]> {
  const parts = operation.parts;
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

/** What is undone in one part. */
interface PartTask extends Omit<UndoTask, "unusable"> {
  readonly scopes: readonly string[];
  readonly apart: ReadonlySet<string>;
}

interface PlannedPart extends UndonePart, PlannedChanges {
  /** The files that plugins make anew, with their scopes. */
  readonly derived: readonly string[];
}

/** Plans what takes changes back in one part of a user's scopes, with what the plugins make of it. Changes nothing. */
async function planPart(operation: Operation, task: PartTask): Promise<PlannedPart> {
  const unusable = new Map<string, string>();
  for (;;) {
    const part = await holdPart(operation, { ...task, mode: "read" }, (held) =>
      planUndone(operation, held, { ...task, unusable }),
    );
    const made = await makeDerived(operation, part.files);
    const before = unusable.size;
    for (const { key, reason } of made.unusable) unusable.set(key, `its plugin refuses what it was before: ${reason}`);
    // Without these files, the plugin's answer is another.
    if (unusable.size > before) continue;
    const goes = new Set(part.gone.map(placeKey));
    const derivedMade = [...made.changes.filter((change) => !goes.has(placeKey(change))), ...part.gone];
    const changes = [...part.files.flatMap((file) => file.changes), ...derivedMade];
    const derived = derivedMade.filter(({ path }) => !isTrashPath(path)).map(({ scope, path }) => `${scope}/${path}`);
    return { ...part, changes, seen: [...part.seen, ...made.seen], left: [...part.left, ...made.left], derived };
  }
}

interface Made {
  readonly changes: SizedChange[];
  readonly seen: Seen[];
  readonly left: LeftFile[];
  readonly unusable: { readonly key: string; readonly reason: string }[];
}

/** Asks the plugin of each scope. One that fails keeps nobody from an undo: its files are mended later. */
async function makeDerived(operation: Operation, files: readonly UndoneFile[]): Promise<Made> {
  const made: Made = { changes: [], seen: [], left: [], unusable: [] };
  const now = files.filter(({ changes }) => changes.length > 0);
  for (const scope of new Set(now.map((file) => file.scope))) {
    const own = now.filter((file) => file.scope === scope);
    const asked = await ask(operation, scope, own);
    if (typeof asked === "string") {
      made.left.push({ path: scope, reason: `its plugin could not make its index anew, the doctor can: ${asked}` });
      continue;
    }
    made.changes.push(...asked.changes);
    made.seen.push(...asked.seen);
    const refused = asked.refused.flatMap((each) => unusableFor(each, own));
    if (asked.refused.length > 0 && refused.length === 0) {
      const reason = `its plugin could not make its index anew: ${asked.refused[0]?.reason ?? ""}`;
      made.left.push({ path: scope, reason });
    }
    made.unusable.push(...refused);
  }
  return made;
}

/** Returns the reason if the plugin fails. */
async function ask(
  operation: Operation,
  scope: string,
  files: readonly UndoneFile[],
): Promise<DerivedChanges | string> {
  const remade = files.filter(({ isRemade }) => isRemade);
  const [paths, remadePaths] = [files, remade].map((some) => some.map(({ path }) => path));
  try {
    const changes = files.flatMap((file) => file.changes);
    return await derivedChanges(operation, { scope, changes, paths: paths ?? [], remadePaths });
  } catch (error) {
    const failure = asToolError(error, operation.action);
    if (endingCodes.has(failure.code)) throw failure;
    return reasonOf(failure);
  }
}

/** A refusal of all files together is one of those that would come in addition. */
function unusableFor({ path, reason }: RefusedPath, files: readonly UndoneFile[]): Made["unusable"] {
  const refused = files.filter(
    (file) => file.outcome === "restored" && (path === "" ? file.isMissing : file.path === path),
  );
  return refused.map((file) => ({ key: placeKey(file), reason }));
}
