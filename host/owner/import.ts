/** Adds files to a user's scopes. Plans everything before anything changes. One refused file refuses all. */
import { isScopePath, isTrashPath, parseTrashPath, trashFolder } from "../../shared/path.ts";
import type { RefusedPath } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import { transferLimits } from "../archive/transfer-limits.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { ImportedFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { inTurns, giveTurn } from "../values/turns.ts";
import { defineOperation } from "./define-operation.ts";
import { derivedChanges } from "./derived-changes.ts";
import { findingsIn } from "./doctor.ts";
import { asTrusted } from "./edit.ts";
import { flag, listOf, passed, text } from "./field.ts";
import type { Finding } from "./finding.ts";
import { fileFault, filesByScope, memoryFiles, memoryFilesExpected, readFiles, refusalsOf } from "./import-files.ts";
import type { ImportOptions, ImportPlan, RefusedFile } from "./memory-files.ts";
import type { Operation } from "./operation.ts";
import { planImport } from "./plan-import.ts";
import type { ImportTask, PlannedFiles } from "./plan-import.ts";
import { applyPlan, planFrom, withMade } from "./plan.ts";
import type { Plan } from "./plan.ts";

export const importMemory = defineOperation({
  name: "import",
  action: "import a user's memory",
  changes: true,
  fields: {
    files: passed(memoryFiles, memoryFilesExpected),
    scopes: listOf(text("NAME", "a scope to import (default: all scopes)")),
    replace: flag("moves existing entries with other content to the trash; without it, the import is refused"),
  },
  check: fileFault,
  run: async (operation: Operation, input: Asked) =>
    await importPlanned(operation, await lookAt(operation, input), "imported"),
  plan: {
    name: "planImport",
    action: "plan an import",
    changes: true,
    run: async (operation: Operation, input: Asked) => together(await lookAt(operation, input)),
  },
});

type Asked = ImportOptions & { readonly files: readonly ImportedFile[] };

/** A plan for each scope that has something to import, and what is refused. Only a plan that is alone has its changes. */
export interface PlannedImport {
  readonly plans: readonly ScopePlan[];
  readonly leftOut: readonly RefusedFile[];
  readonly refused: readonly RefusedFile[];
}

/** Each scope is one change set. `approved`: the owner says that the files are theirs. */
export async function importPlanned(
  operation: Operation,
  { plans, leftOut, refused }: PlannedImport,
  kind: "imported" | "approved",
): Promise<ImportPlan> {
  refuseImport(refused);
  const done: ScopePlan[] = [];
  for (const made of plans) {
    const { task } = made;
    const trusted = async (inside: Operation, planned: ScopePlan): Promise<ScopePlan> =>
      kind === "approved" ? { ...planned, changes: await ownTrusted(inside, task, planned.changes) } : planned;
    const plan = async (inside: Operation): Promise<ScopePlan> => {
      const again = await planScope(inside, task);
      refuseImport(again.refused);
      return await trusted(inside, again);
    };
    const first = plans.length === 1 ? await trusted(operation, made) : undefined;
    done.push(withoutChanges(await applyPlan(operation, { scopes: [task.scope], kind, plan, made: first })));
  }
  return together({ plans: done, leftOut, refused: [] });
}

/** The files are the owner's; what the plugin makes of others keeps its trust. */
async function ownTrusted(
  operation: Operation,
  { files }: ImportTask,
  changes: readonly SizedChange[],
): Promise<readonly SizedChange[]> {
  const own = new Set(files.map(({ path }) => path));
  const [mine, made] = [changes.filter(({ path }) => own.has(path)), changes.filter(({ path }) => !own.has(path))];
  return [...mine, ...(await asTrusted(operation, made))];
}

export async function lookAt(
  operation: Operation,
  { files, replace: replaces = false, scopes }: Asked,
): Promise<PlannedImport> {
  const tasks: ImportTask[] = [];
  const leftOut: RefusedFile[] = [];
  for (const [scope, ofScope] of await inTurns(filesByScope(files, scopes))) {
    if (!operation.tools.hasScope(scope)) {
      leftOut.push({ path: scope, code: "TOOL_UNKNOWN", reason: "no loaded plugin has this scope" });
      continue;
    }
    const task = await taskOf(operation, { scope, files: ofScope, replaces });
    leftOut.push(...placed(task.unfit, scope));
    if (task.files.length > 0) tasks.push(task);
  }
  const plans: ScopePlan[] = [];
  for (const task of tasks) {
    const plan = await planScope(operation, task);
    plans.push(tasks.length === 1 ? plan : withoutChanges(plan));
  }
  // If all files are left out, the reasons for that are the refusal.
  return { plans, leftOut, refused: plans.length === 0 ? leftOut : plans.flatMap(({ refused }) => refused) };
}

/** The contents of all scopes together can be more than the memory of the machine. */
const withoutChanges = (plan: ScopePlan): ScopePlan => ({ ...plan, changes: [], seen: [] });

export function together({ plans, leftOut, refused }: PlannedImport): ImportPlan {
  const pathsOf = (which: "created" | "replaced" | "skipped" | "trashed"): string[] =>
    plans.flatMap(({ task: { scope }, ...plan }) => plan[which].map((path) => `${scope}/${path}`));
  return {
    created: pathsOf("created"),
    replaced: pathsOf("replaced"),
    skipped: pathsOf("skipped"),
    trashed: pathsOf("trashed"),
    bytes: plans.reduce((sum, { bytes }) => sum + bytes, 0),
    mended: plans.flatMap(({ mended }) => mended),
    leftOut: plans.length === 0 ? [] : leftOut,
    refused: refused.slice(0, transferLimits.refusalsShownMax),
    refusedHidden: Math.max(0, refused.length - transferLimits.refusalsShownMax),
  };
}

/** One scope's plan, with everything that is refused. What is refused and mended has the scope before its path. */
interface ScopePlan extends Plan, Omit<PlannedFiles, "changes"> {
  readonly task: ImportTask;
  readonly mended: readonly Finding[];
}

/** Plans the files, and what the scope's plugin makes of them. It judges them only if nothing else refuses them. */
async function planScope(operation: Operation, task: ImportTask): Promise<ScopePlan> {
  const { scope } = task;
  const refusedAnyway = await inTurns(refusalsOf(task.files));
  // Before anything is held: it can take long.
  const files = refusedAnyway.length > 0 ? [] : await readFiles(task.files);
  const own = await operation.hold("read", [scope], async (held) => {
    const planned = await planImport(held, { ...task, files, refused: refusedAnyway }, operation.now());
    return { ...planned, ...planFrom(held, planned.changes), refused: placed(planned.refused, scope) };
  });
  if (own.refused.length > 0) return { ...own, task, mended: [] };
  const written = new Set(own.changes.map(({ path }) => path));
  const paths = files.map(({ path }) => path).filter((path) => isLive(path) && written.has(path));
  const { refused, mended, ...made } = await derivedChanges(operation, {
    scope,
    changes: own.changes,
    paths,
    freedBytes: 0,
  });
  const findings = findingsIn({ findings: [...mended], findingsHidden: 0 }, scope);
  return { ...withMade(own, made), task, mended: findings, refused: placed(refused, scope) };
}

const isLive = (path: string): boolean => isScopePath(path) && !isTrashPath(path);

const placed = (files: readonly RefusedFile[], scope: string): RefusedFile[] =>
  files.map(({ path, code, reason }) => ({ path: path === "" ? scope : `${scope}/${path}`, code, reason }));

/**
 * Paths per question. The answer has a sentence for each: with the longest paths, a fifth of what an answer may hold.
 */
const pathsAtOnce = 200;

/**
 * Asks a scope's plugin, if it can inspect, which paths it does not keep and which files it makes itself. `unfit`: the paths
 * that are not kept, and why.
 */
async function taskOf(
  operation: Operation,
  asked: Pick<ImportTask, "scope" | "files" | "replaces">,
): Promise<ImportTask & { readonly unfit: readonly RefusedPath[] }> {
  const inspector = operation.tools.forScope("inspect", asked.scope);
  const unfit = new Map<string, RefusedPath>();
  const derived: string[] = [];
  const paths = asked.files.map(({ path }) => path);
  for (const path of paths) {
    await giveTurn();
    const fault = trashFaultOf(path);
    if (fault !== null) unfit.set(path, fault);
  }
  const live = paths.filter(isLive);
  for (let at = 0; at < live.length; at += pathsAtOnce) {
    if (inspector === null) break;
    const input = { mend: false, paths: live.slice(at, at + pathsAtOnce) };
    const told = await operation.ask("inspect", inspector, input, { mode: "look" });
    // The host decides about the trash, not the plugin.
    for (const each of told.unfit ?? []) if (!isTrashPath(each.path)) unfit.set(each.path, each);
    derived.push(...(told.derived ?? []));
  }
  return {
    ...asked,
    files: asked.files.filter(({ path }) => !unfit.has(path)),
    derived: new Set(derived),
    isInspected: inspector !== null,
    unfit: paths.flatMap((path) => unfit.get(path) ?? []),
  };
}

/** Why the trash cannot keep a file, whatever the plugin says; `null` if it can, or if the path is not in the trash. */
function trashFaultOf(path: string): RefusedPath | null {
  if (!isScopePath(path) || !isTrashPath(path)) return null;
  const inTrash = path.slice(trashFolder.length + 1);
  if (!path.startsWith(`${trashFolder}/`)) {
    return { path, code: "INPUT_INVALID", reason: `its name is that of the folder ${trashFolder}/` };
  }
  if (!isTrashPath(inTrash) && !isTrashPath(parseTrashPath(path)?.path ?? "")) return null;
  return { path, code: "INPUT_INVALID", reason: "its former place is in the trash, so nothing could put it back" };
}

/** How many refused files the message of an error names. */
const namedMax = 3;

/** Throws when anything is refused, with the code of the first. */
function refuseImport(refused: readonly RefusedFile[]): void {
  const [first] = refused;
  if (first === undefined) return;
  const named = refused.slice(0, namedMax).map(({ path, reason }) => `${quoted(path)}: ${reason}`);
  const rest = refused.length - named.length;
  if (rest > 0) named.push(`and ${rest} more`);
  throw new ToolError(first.code, `Cannot import the memory: ${named.join("; ")}`);
}
