/** Adds files to a user's scopes. Plans everything before anything changes. One refused file refuses all. */
import { callLimits } from "../../shared/limits.ts";
import { isScopePath, isTrashPath, parseTrashPath, trashFolder } from "../../shared/path.ts";
import type { InspectOutput, RefusedPath } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import { transferLimits } from "../archive/transfer-limits.ts";
import type { CallOptions } from "../call/asked-call.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { inTurns, giveTurn } from "../values/turns.ts";
import { findingsIn } from "./doctor.ts";
import { filesByScope } from "./import-files.ts";
import type { ImportOptions, ImportPlan, RefusedFile } from "./memory-files.ts";
import type { Operation } from "./operation.ts";
import { emptyPlan, planImport } from "./plan-import.ts";
import type { ImportTask, PlannedImport } from "./plan-import.ts";

type Asked = readonly [operation: Operation, files: readonly MemoryFile[], options: ImportOptions];

export async function planFiles(...asked: Asked): Promise<ImportPlan> {
  const { plans, leftOut } = await planAll(...asked);
  return together(plans, leftOut);
}

export async function importFiles(...asked: Asked): Promise<ImportPlan> {
  const { imports, plans, leftOut } = await planAll(...asked);
  refuseImport(refusedOf(plans, leftOut));
  for (const [at, plan] of plans.entries()) {
    if (plan.created.length + plan.replaced.length + plan.trashed.length === 0) continue;
    plans[at] = (await imports[at]?.commit()) ?? plan;
  }
  return together(plans, leftOut);
}

/** A plan for each scope that has something to import. */
async function planAll(...[operation, files, { replace = false, scopes }]: Asked) {
  const imports: ScopeImport[] = [];
  const leftOut: RefusedFile[] = [];
  for (const [scope, ofScope] of await inTurns(filesByScope(files, scopes))) {
    if (!operation.tools.hasScope(scope)) {
      leftOut.push({ path: scope, code: "TOOL_UNKNOWN", reason: "no loaded plugin has this scope" });
      continue;
    }
    const each = await ScopeImport.of(operation, scope, { files: ofScope, replaces: replace });
    leftOut.push(...each.leftOut);
    if (each.leftOut.length < ofScope.length) imports.push(each);
  }
  const plans: ScopePlan[] = [];
  for (const each of imports) plans.push(await each.plan());
  return { imports, plans, leftOut };
}

/** If all files are left out, the reasons for that are the refusal. */
const refusedOf = (plans: readonly ScopePlan[], leftOut: readonly RefusedFile[]): readonly RefusedFile[] =>
  plans.length === 0 ? leftOut : plans.flatMap(({ refused }) => refused);

function together(plans: readonly ScopePlan[], leftOut: readonly RefusedFile[]): ImportPlan {
  const refused = refusedOf(plans, leftOut);
  return {
    created: plans.flatMap(({ created }) => created),
    replaced: plans.flatMap(({ replaced }) => replaced),
    skipped: plans.flatMap(({ skipped }) => skipped),
    trashed: plans.flatMap(({ trashed }) => trashed),
    bytes: plans.reduce((sum, { bytes }) => sum + bytes, 0),
    mended: plans.flatMap(({ mended }) => mended),
    leftOut: plans.length === 0 ? [] : leftOut,
    refused: refused.slice(0, transferLimits.refusalsShownMax),
    refusedHidden: Math.max(0, refused.length - transferLimits.refusalsShownMax),
  };
}

/** One scope's plan, with everything that is refused. */
type ScopePlan = Omit<ImportPlan, "leftOut" | "refusedHidden">;

type Task = Omit<ImportTask, "epochMs">;

/** The bytes of one input that paths can take, beside the rest of it. */
const incomingBytesMax = callLimits.inputBytesMax - 100;

const imported = "imported" as const;

const nothingFound: InspectOutput = { findings: [], findingsHidden: 0 };

/** The import of one scope's files: stages them, asks the scope's plugin about them, and plans or commits. */
class ScopeImport {
  /** Files under paths that are not kept. */
  readonly leftOut: readonly RefusedFile[];
  readonly #operation: Operation;
  readonly #task: Task;
  /** The live files that the plugin judges, in as many questions as needed. */
  readonly #questions: readonly (readonly string[])[];

  private constructor(operation: Operation, task: Task, leftOut: readonly RefusedFile[]) {
    this.#operation = operation;
    this.#task = task;
    this.leftOut = placed(leftOut, task.scope);
    const live = task.files.map(({ path }) => path).filter((path) => isScopePath(path) && !isTrashPath(path));
    this.#questions = inQuestions(live);
  }

  static async of(
    operation: Operation,
    scope: string,
    { files: all, replaces }: { readonly files: readonly MemoryFile[]; readonly replaces: boolean },
  ): Promise<ScopeImport> {
    const paths = all.map(({ path }) => path);
    const facts = await askPaths(operation, scope, paths);
    const files = all.filter(({ path }) => !facts.unfit.has(path));
    const leftOut = paths.flatMap((path) => facts.unfit.get(path) ?? []);
    const isInspected = operation.tools.forScope("inspect", scope) !== null;
    return new ScopeImport(operation, { scope, files, derived: facts.derived, isInspected, replaces }, leftOut);
  }

  /** Stages the files and lets the plugin judge them. Commits nothing. */
  async plan(): Promise<ScopePlan> {
    const plans: ScopePlan[] = [];
    for (const incoming of this.#questions) plans.push(await this.#judge(incoming, false));
    const [refused, mended] = [plans.flatMap((plan) => plan.refused), plans.flatMap((plan) => plan.mended)];
    return Object.assign({}, plans[0] as ScopePlan, { refused: distinct(refused), mended: distinct(mended) });
  }

  /**
   * Commits all of it, or nothing if someone was faster since the plan. Asks only the first of several questions again.
   */
  async commit(): Promise<ScopePlan> {
    return await this.#judge(this.#questions[0] ?? [], true);
  }

  async #judge(incoming: readonly string[], commits: boolean): Promise<ScopePlan> {
    const [operation, { scope }] = [this.#operation, this.#task];
    const inspector = operation.tools.forScope("inspect", scope);
    const refuse = (refused: readonly RefusedFile[]): void => {
      if (commits) refuseImport(placed(refused, scope));
    };
    let planned = emptyPlan();
    // Runs again if a person has changed the files that it is based on.
    const stage: NonNullable<CallOptions["stage"]> = async (reader, epochMs) => {
      planned = await planImport(reader, { ...this.#task, epochMs });
      refuse(planned.refused);
      // Refused files are not staged: the plugin then inspects what is there.
      return planned.refused.length > 0 ? [] : planned.changes;
    };
    let told = nothingFound;
    if (inspector !== null) {
      const accepts = async ({ refused = [] }: InspectOutput): Promise<[]> => {
        refuse(refused);
        return [];
      };
      const options = { stage, accepts, kind: imported, ...(!commits && { mode: "look" as const }) };
      told = await operation.ask("inspect", inspector, { mend: commits, incoming: [...incoming] }, options);
    } else {
      await operation.hold({ scopes: [scope], mode: commits ? "write" : "read" }, async (held) => {
        const changes = await stage(held, operation.now());
        if (commits) await operation.commit(held, changes, imported);
      });
    }
    return this.#planFrom(planned, planned.refused.length > 0 ? nothingFound : told, incoming);
  }

  /** Only `refused` decides. How many findings there are, and whether all are shown, says nothing about these files. */
  #planFrom(planned: PlannedImport, { findings, refused = [] }: InspectOutput, incoming: readonly string[]): ScopePlan {
    const { scope } = this.#task;
    const { created, replaced, skipped, trashed, bytes } = planned;
    const within = (paths: readonly string[]): string[] => paths.map((path) => `${scope}/${path}`);
    // To the plugin, files of another question are files that were there.
    const asked = new Set(incoming);
    const elsewhere = new Set(this.#questions.flat().filter((path) => !asked.has(path)));
    const mendable = findings.filter(({ path, remedy }) => remedy !== null && !elsewhere.has(path));
    return {
      created: within(created),
      replaced: within(replaced),
      skipped: within(skipped),
      trashed: within(trashed),
      bytes,
      mended: findingsIn({ findings: mendable, findingsHidden: 0 }, scope),
      refused: placed([...planned.refused, ...refused], scope),
    };
  }
}

/** Splits paths into questions. At least one: a plugin is also asked if no file is live. */
function inQuestions(paths: readonly string[]): readonly (readonly string[])[] {
  const questions: string[][] = [[]];
  let bytes = 0;
  for (const path of paths) {
    // Paths are ASCII that JSON does not escape; 3 for quotation marks and a comma.
    bytes += path.length + 3;
    if (bytes > incomingBytesMax) {
      questions.push([]);
      bytes = path.length + 3;
    }
    questions.at(-1)?.push(path);
  }
  return questions;
}

const placed = (files: readonly RefusedFile[], scope: string): RefusedFile[] =>
  files.map(({ path, code, reason }) => ({ path: path === "" ? scope : `${scope}/${path}`, code, reason }));

const distinct = <Item>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [JSON.stringify(item), item])).values(),
];

interface PathFacts {
  /** The paths that are not kept, and why. */
  readonly unfit: ReadonlyMap<string, RefusedPath>;
  /** Files that the plugin makes from the others. */
  readonly derived: ReadonlySet<string>;
}

/**
 * Paths per question. The answer has a sentence for each: with the longest paths, a fifth of what an answer may hold.
 */
const pathsAtOnce = 200;

/** Asks a scope's plugin, if it can inspect, which paths it does not keep and which files it makes itself. */
async function askPaths(operation: Operation, scope: string, paths: readonly string[]): Promise<PathFacts> {
  const inspector = operation.tools.forScope("inspect", scope);
  const unfit: RefusedPath[] = [];
  const derived: string[] = [];
  const live: string[] = [];
  for (const path of paths) {
    await giveTurn();
    const fault = trashFaultOf(path);
    if (fault !== null) unfit.push(fault);
    if (isScopePath(path) && !isTrashPath(path)) live.push(path);
  }
  for (let at = 0; at < live.length; at += pathsAtOnce) {
    if (inspector === null) break;
    const input = { mend: false, paths: live.slice(at, at + pathsAtOnce) };
    const told = await operation.ask("inspect", inspector, input, { mode: "look" });
    // The host decides about the trash, not the plugin.
    unfit.push(...(told.unfit ?? []).filter(({ path }) => !isTrashPath(path)));
    derived.push(...(told.derived ?? []));
  }
  return { unfit: new Map(unfit.map((fault) => [fault.path, fault])), derived: new Set(derived) };
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
