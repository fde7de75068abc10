/** The import of one scope's files: stages them, asks the scope's plugin about them, and plans or commits. */
import { callLimits } from "../../shared/limits.ts";
import { isScopePath, isTrashPath } from "../../shared/path.ts";
import type { InspectOutput } from "../../shared/roles.ts";
import type { CallOptions } from "../call/asked-call.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { findingsIn } from "./doctor.ts";
import { askPaths } from "./fit-paths.ts";
import { refuseImport } from "./import-refusal.ts";
import type { ImportPlan, RefusedFile } from "./memory-files.ts";
import type { Operation } from "./operation.ts";
import { emptyPlan, planImport } from "./plan-import.ts";
import type { ImportTask, PlannedImport } from "./plan-import.ts";

/** One scope's plan, with everything that is refused. */
export type ScopePlan = Omit<ImportPlan, "leftOut" | "refusedHidden">;

type Task = Omit<ImportTask, "epochMs">;

/** The bytes of one input that paths can take, beside the rest of it. */
const incomingBytesMax = callLimits.inputBytesMax - 100;

const imported = "imported" as const;

const nothingFound: InspectOutput = { findings: [], findingsHidden: 0 };

export class ScopeImport {
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
      const options = { stage, accepts, isLookingOnly: !commits, kind: imported };
      told = await operation.ask("inspect", inspector, { mend: commits, incoming: [...incoming] }, options);
    } else {
      await operation.hold({ scopes: [scope], writes: commits }, async (held) => {
        const changes = await stage(held.reader, operation.now());
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
