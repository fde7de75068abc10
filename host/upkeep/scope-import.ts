/** The import of one scope's files: what is staged, what the scope's plugin says of it, and what becomes of it by that. */
import { trashFolder } from "../../shared/path.ts";
import type { InspectOutput } from "../../shared/roles.ts";
import type { CallOptions } from "../call/asked-call.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { HeldReader } from "../store/store.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { findingsIn } from "./doctor.ts";
import type { Finding } from "./finding.ts";
import { askPaths } from "./fit-paths.ts";
import { refuseImport } from "./import-refusal.ts";
import type { ImportPlan, RefusedFile } from "./memory-files.ts";
import type { Operation } from "./operation.ts";
import { planImport } from "./plan-import.ts";
import type { ImportTask, PlannedImport } from "./plan-import.ts";

type Stage = NonNullable<CallOptions["stage"]>;
type Task = Omit<ImportTask, "epochMs">;

const nothingFound: InspectOutput = { findings: [], findingsHidden: 0 };

export class ScopeImport {
  readonly #operation: Operation;
  readonly #inspector: CatalogTool | null;
  readonly #task: Task;
  #planned: PlannedImport | null = null;

  private constructor(operation: Operation, task: Task, inspector: CatalogTool | null) {
    this.#operation = operation;
    this.#task = task;
    this.#inspector = inspector;
  }

  static async of(
    operation: Operation,
    scope: string,
    { files, replaces }: { readonly files: readonly MemoryFile[]; readonly replaces: boolean },
  ): Promise<ScopeImport> {
    const inspector = operation.tools.forScope("inspect", scope);
    const paths = files.map(({ path }) => path);
    const facts = await askPaths(operation, scope, paths);
    return new ScopeImport(operation, { scope, files, facts, isInspected: inspector !== null, replaces }, inspector);
  }

  /** The plugin is shown what would be there, and says what it thinks of it. Nothing is committed. */
  async plan(): Promise<ImportPlan> {
    const { scope } = this.#task;
    if (!this.#operation.tools.hasScope(scope)) return refusedPlan(scope);
    const told = await this.#look(async (reader, epochMs) => {
      const { changes, refused } = await this.#planWith(reader, epochMs);
      // What is refused is not staged: then the plugin looks at what is there.
      return refused.length > 0 ? { changes: [], seen: [] } : { changes, seen: reader.seen };
    });
    return this.#planFrom(told);
  }

  /** All of it, or nothing when someone has been faster since it was planned. */
  async commit(): Promise<ImportPlan> {
    const operation = this.#operation;
    const stage: Stage = async (reader, epochMs) => {
      const { changes } = await this.#planWith(reader, epochMs);
      refuseImport(this.#planFrom(nothingFound));
      return { changes, seen: reader.seen };
    };
    if (this.#inspector !== null) {
      const input = { mend: true, incoming: this.#incoming };
      const told = await operation.ask("inspect", this.#inspector, input, { stage });
      return this.#planFrom(told);
    }
    await operation.hold({ scopes: [this.#task.scope], writes: true }, async (held) => {
      const { changes } = await stage(held.reader, operation.now());
      await operation.commit(held, changes);
    });
    return this.#planFrom(nothingFound);
  }

  /** Under the user's lock; again when a person has changed meanwhile what it was made from. */
  async #planWith(reader: HeldReader, epochMs: number): Promise<PlannedImport> {
    this.#planned = await planImport(reader, { ...this.#task, epochMs });
    return this.#planned;
  }

  async #look(stage: Stage): Promise<InspectOutput> {
    const operation = this.#operation;
    if (this.#inspector !== null) {
      const input = { mend: false, incoming: this.#incoming };
      return await operation.ask("inspect", this.#inspector, input, { stage, isLookingOnly: true });
    }
    const options = { scopes: [this.#task.scope], writes: false };
    await operation.hold(options, ({ reader }) => stage(reader, operation.now()));
    return nothingFound;
  }

  /** What the plugin is to judge: files that it may keep, and none of the trash. */
  get #incoming(): string[] {
    const { files, facts } = this.#task;
    return files
      .map(({ path }) => path)
      .filter((path) => !path.startsWith(`${trashFolder}/`) && !facts.unfit.has(path));
  }

  #planFrom(told: InspectOutput): ImportPlan {
    const planned = this.#planned;
    if (planned === null) throw new RangeError("Nothing has been staged");
    const { scope } = this.#task;
    const { created, replaced, skipped, trashed, bytes, refused: byHost } = planned;
    const placed = (paths: readonly string[]): string[] => paths.map((path) => `${scope}/${path}`);
    const refused = [...byHost, ...(byHost.length > 0 ? [] : refusedBy(told))];
    const mended: Finding[] = byHost.length > 0 ? [] : findingsIn({ ...told, findingsHidden: 0 }, scope);
    return {
      created: placed(created),
      replaced: placed(replaced),
      skipped: placed(skipped),
      trashed: placed(trashed),
      bytes,
      mended: mended.filter(({ remedy }) => remedy !== null),
      refused: refused.map(({ path, code, reason }) => ({
        path: path === "" ? scope : `${scope}/${path}`,
        code,
        reason,
      })),
      refusedHidden: 0,
    };
  }
}

/** Where a plugin has found more than it tells, nobody knows what it thinks of the files. */
function refusedBy({ refused = [], findingsHidden }: InspectOutput): RefusedFile[] {
  const reason = `${findingsHidden} more findings are not shown`;
  return [...refused, ...(findingsHidden > 0 ? [{ path: "", code: "QUOTA_EXCEEDED" as const, reason }] : [])];
}

function refusedPlan(scope: string): ImportPlan {
  const nothing = { created: [], replaced: [], skipped: [], trashed: [], bytes: 0, mended: [], refusedHidden: 0 };
  const refused = [{ path: scope, code: "TOOL_UNKNOWN" as const, reason: "no plugin that is loaded has this scope" }];
  return { ...nothing, refused };
}
