import { storeLimits } from "../../shared/limits.ts";
import { trashFolder } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { Recorder } from "../audit/collect/recorder.ts";
import type { UpkeepRecord } from "../audit/collect/upkeep-record.ts";
import type { CallOptions, CallRunner, HostWork } from "../call/call-runner.ts";
import type { ChangeListeners } from "../call/change-listeners.ts";
import { commitChanges } from "../call/commit-changes.ts";
import type { StagedChanges } from "../call/commit-changes.ts";
import type { CatalogTool } from "../plugins/catalog.ts";
import type { HeldReader, Store } from "../store/store.ts";
import { checkContext, readContext } from "../values/call-context.ts";
import type { CallContext, CheckedContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import { errorOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { UserId } from "../values/user-id.ts";
import { exportFiles } from "./export-files.ts";
import type { Finding } from "./finding.ts";
import { checkAmount, checkFiles } from "./import-files.ts";
import { ImportTrial, refuseImport } from "./import-trial.ts";
import { findingsIn } from "./inspect-answer.ts";
import type { ExportOptions, ImportOptions, ImportPlan, MemoryExport } from "./memory-files.ts";
import { removalOf, trashedFiles } from "./trashed-files.ts";
import type { TrashedFile, Upkeep } from "./upkeep.ts";
import { findingsInParts, mendParts } from "./user-parts.ts";

/** The scope of what is exported, imported and restored: the one whose files a loaded plugin can judge for the host. */
const scope = "memory";
const scopes = [scope];

/** The tool that judges them. Without a plugin that has it, only what the store can tell is found and mended. */
const inspector = "InspectMemory";

export interface UpkeepParts {
  readonly store: Store;
  readonly runner: CallRunner;
  readonly recorder: Recorder;
  readonly listeners: ChangeListeners;
  readonly tools: ReadonlyMap<string, CatalogTool>;
  /** A tool with the audience `host`. */
  readonly find: (toolName: string) => CatalogTool;
}

/** Who asks, and what is recorded of it. */
interface Operation extends CheckedContext {
  readonly record: UpkeepRecord;
}

/** The host's part of looking after files; what the text in them means is asked of the guest. */
export class LocalUpkeep implements Upkeep {
  readonly #parts: UpkeepParts;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  async users(): Promise<string[]> {
    this.#parts.runner.checkOpen("list users");
    return (await this.#parts.store.users()).toSorted();
  }

  inspect(ctx: CallContext): Promise<Finding[]> {
    return this.#operate(["inspect", "inspect a user's files"], ctx, (checked) => this.#inspect(checked));
  }

  mend(ctx: CallContext): Promise<Finding[]> {
    return this.#operate(["mend", "mend a user's files"], ctx, async (checked) => {
      // Looked at before anything is held for writing, which by itself finishes what a crash has left.
      const before = await this.#inspect(checked);
      if (before.every(({ remedy }) => remedy === null)) return [];
      await this.#mend(checked);
      // What was put right is told, also to who has cancelled meanwhile.
      const after = new Set((await this.#inspect({ ...checked, signal: undefined })).map(keyOf));
      return before.filter((finding) => finding.remedy !== null && !after.has(keyOf(finding)));
    });
  }

  listTrash(ctx: CallContext): Promise<TrashedFile[]> {
    return this.#operate(["listTrash", "list the trash"], ctx, (checked) => this.#listTrash(checked));
  }

  restore(ctx: CallContext, name: string): Promise<TrashedFile> {
    if (typeof name !== "string") throw new TypeError("restore() needs the name of what to restore");
    return this.#operate(["restore", "restore an entry"], ctx, async (checked) => {
      const files = await this.#listTrash(checked);
      const ofScope = files.filter((each) => each.scope === scope);
      const file = ofScope.find((each) => each.name === name) ?? ofScope.find(({ path }) => path === `${name}.md`);
      if (!file)
        throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore ${quoted(name)}: it is not in the trash of ${scope}`);
      const trashed = `${trashFolder}/${file.name}`;
      const alsoCommit: SizedChange[] = [{ kind: "remove", scope, path: trashed, bytes: file.bytes }];
      throwFailure(await this.#callTool("RestoreEntry", { trashed }, checked, { alsoCommit }));
      return file;
    });
  }

  purge(ctx: CallContext, { beforeEpochMs }: { readonly beforeEpochMs: number }): Promise<TrashedFile[]> {
    if (!Number.isFinite(beforeEpochMs)) throw new RangeError(`beforeEpochMs is ${beforeEpochMs}, not milliseconds`);
    const label = "purge the trash";
    return this.#operate(["purge", label], ctx, (checked) =>
      this.#parts.runner.hold({ ...checked, action: label }, { scopes, writes: true }, async (held) => {
        const old = (await trashedFiles(held.reader)).filter(({ epochMs }) => epochMs < beforeEpochMs);
        for (const part of partsOf(old)) {
          const { listeners } = this.#parts;
          await commitChanges({ changes: part.map(removalOf), seen: [] }, { held, record: checked.record, listeners });
        }
        return old;
      }),
    );
  }

  export(ctx: CallContext, { onProgress }: ExportOptions = {}): Promise<MemoryExport> {
    const action = "export a user's memory";
    return this.#operate(["export", action], ctx, (checked) =>
      this.#parts.runner.hold({ ...checked, action }, { scopes, writes: false }, async ({ reader }) => {
        const otherScopes = await this.#otherScopes(checked.userId, reader);
        return { ...(await exportFiles(reader, scope, onProgress)), otherScopes };
      }),
    );
  }

  planImport(ctx: CallContext, files: readonly MemoryFile[], options: ImportOptions = {}): Promise<ImportPlan> {
    checkFiles(files);
    return this.#operate(["planImport", "plan an import"], ctx, (checked) => this.#tryImport(checked, files, options));
  }

  import(ctx: CallContext, files: readonly MemoryFile[], options: ImportOptions = {}): Promise<ImportPlan> {
    checkFiles(files);
    return this.#operate(["import", "import a user's memory"], ctx, async (checked) => {
      const plan = await this.#tryImport(checked, files, options);
      refuseImport(plan);
      const trial = this.#trialOf(files, options);
      const stage = async (reader: HeldReader, epochMs: number): Promise<StagedChanges> => {
        const staged = await trial.stage(reader, epochMs);
        // Someone has been faster since it was planned.
        refuseImport(trial.plan([]));
        return staged;
      };
      if (plan.created.length + plan.replaced.length + plan.trashed.length === 0) return plan;
      const done = await this.#callTool(inspector, { mend: true }, checked, { stage });
      throwFailure(done);
      return trial.plan(findingsIn(done, scope));
    });
  }

  /** The guest is shown what would be there, and says what it thinks of it. Nothing is committed. */
  async #tryImport(operation: Operation, files: readonly MemoryFile[], options: ImportOptions): Promise<ImportPlan> {
    checkAmount(files);
    const trial = this.#trialOf(files, options);
    const stage = (reader: HeldReader, epochMs: number): Promise<StagedChanges> => trial.stage(reader, epochMs);
    const looked = await this.#callTool(inspector, { mend: false }, operation, { stage, isLookingOnly: true });
    throwFailure(looked);
    return trial.plan(findingsIn(looked, scope));
  }

  #trialOf(files: readonly MemoryFile[], { replace = false }: ImportOptions): ImportTrial {
    return new ImportTrial({ scope, files, replaces: replace });
  }

  async #otherScopes(userId: UserId, reader: HeldReader): Promise<string[]> {
    const apart = (await this.#parts.store.parts(userId)).flatMap((part) => part.scopes);
    const all = new Set([...(await reader.scopes()), ...apart]);
    return [...all].filter((each) => each !== scope).toSorted();
  }

  /** Checks who asks; the runtime stays open until the operation has ended, which may take several calls. */
  async #operate<Result>(
    [name, action]: readonly [name: string, action: string],
    ctx: CallContext,
    work: (operation: Operation) => Promise<Result>,
  ): Promise<Result> {
    const { runner, recorder } = this.#parts;
    using _underWay = runner.begin();
    const context = readContext(ctx);
    const record = recorder.beginUpkeep(name, action, context);
    const outcome = await outcomeOf(action, async () => {
      runner.checkOpen(action);
      return await work({ ...checkContext(context, action), record });
    });
    const withheld = record.end("failure" in outcome ? outcome.failure : null);
    if (withheld) throw withheld;
    if ("failure" in outcome) throw outcome.failure;
    return outcome.result;
  }

  /** A tool's call has a record of its own, under the operation's id. */
  async #callTool(
    toolName: string,
    input: unknown,
    { userId, signal, record: { callId, labels }, record }: Operation,
    options: CallOptions,
  ): Promise<ToolResult> {
    const { runner, find } = this.#parts;
    const ctx = { userId, signal, callId, labels: labels ?? undefined };
    const asked = { toolName, action: `call ${toolName}`, find: () => find(toolName), input, ctx };
    const { result, isCommitted } = await runner.call(asked, options);
    if (isCommitted) record.toolHasCommitted();
    return result;
  }

  /** A hold for writing finishes what a crash has left, and a thorough one all else that the store can mend. */
  async #mend(operation: Operation): Promise<void> {
    const isInspected = this.#parts.tools.has(inspector);
    if (isInspected) throwFailure(await this.#callTool(inspector, { mend: true }, operation, { isThorough: true }));
    await mendParts({ ...this.#parts, work: { ...operation, action: "mend a user's files" } }, { isInspected });
  }

  async #inspect(operation: Operation): Promise<Finding[]> {
    const work: HostWork = { ...operation, action: "inspect a user's files" };
    const ofStore: Finding[] = await findingsInParts({ ...this.#parts, work });
    if (!this.#parts.tools.has(inspector)) return ofStore;
    const looked = await this.#callTool(inspector, { mend: false }, operation, { isLookingOnly: true });
    return [...ofStore, ...findingsIn(looked, scope)];
  }

  #listTrash(operation: Operation): Promise<TrashedFile[]> {
    const work: HostWork = { ...operation, action: "list the trash" };
    return this.#parts.runner.hold(work, { scopes, writes: false }, ({ reader }) => trashedFiles(reader));
  }
}

type Outcome<Result> = { readonly result: Result } | { readonly failure: ToolError };

async function outcomeOf<Result>(action: string, work: () => Promise<Result>): Promise<Outcome<Result>> {
  try {
    return { result: await work() };
  } catch (error) {
    return { failure: asToolError(error, action) };
  }
}

/** Parts of a list that one change set takes. */
function partsOf<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / storeLimits.changesMax);
  return Array.from({ length: count }, (_, at) =>
    items.slice(at * storeLimits.changesMax, (at + 1) * storeLimits.changesMax),
  );
}

const keyOf = ({ problem, path, message }: Finding): string => `${problem} ${path} ${message}`;

function throwFailure(result: ToolResult): void {
  if (!result.ok) throw errorOf(result.error);
}
