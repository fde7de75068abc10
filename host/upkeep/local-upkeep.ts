import { storeLimits } from "../../shared/limits.ts";
import { trashFolder } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { Auditor } from "../audit/collect/auditor.ts";
import type { FoundTool } from "../audit/collect/call-audit.ts";
import type { UpkeepAudit } from "../audit/collect/upkeep-audit.ts";
import type { CallRunner, HoldLabel, RunOptions, StagedByHost } from "../call/call-runner.ts";
import type { CatalogTool, LoadedTools } from "../plugins/loaded-tools.ts";
import type { HeldReader, Store } from "../store/store.ts";
import { checkContext } from "../values/call-context.ts";
import type { CallContext, CheckedContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
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
import { findingsInPlaces, mendPlaces } from "./user-places.ts";

/** The scope of what is exported, imported and restored: the one whose files a loaded plugin can judge for the host. */
const scope = "memory";
const scopes = [scope];

/** The tool that judges them. Without a plugin that has it, only what the store can tell is found and mended. */
const inspector = "InspectMemory";

export interface UpkeepParts {
  readonly store: Store;
  readonly runner: CallRunner;
  readonly auditor: Auditor;
  readonly tools: LoadedTools;
  /** What a call's record tells of a tool that was found. */
  readonly granted: (found: CatalogTool) => FoundTool;
  /** Throws `CLOSED` when the runtime is. */
  readonly checkOpen: (action: string) => void;
}

/** Who asks, and what is recorded of it. */
interface Operation extends CheckedContext {
  readonly audit: UpkeepAudit;
}

/** The host's part of looking after files; what the text in them means is asked of the guest. */
export class LocalUpkeep implements Upkeep {
  readonly #parts: UpkeepParts;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  async users(): Promise<string[]> {
    this.#parts.checkOpen("list users");
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
    return this.#operate(["purge", label], ctx, ({ userId, signal, audit }) =>
      this.#parts.runner.hold(ofStoreOnly(label, audit), userId, { scopes, writes: true, signal }, async (held) => {
        const old = (await trashedFiles(held.reader)).filter(({ epochMs }) => epochMs < beforeEpochMs);
        for (const part of partsOf(old)) {
          const changes = part.map(removalOf);
          await audit.commit(changes, () => held.commit(changes, []));
        }
        return old;
      }),
    );
  }

  export(ctx: CallContext, { onProgress }: ExportOptions = {}): Promise<MemoryExport> {
    const label = "export a user's memory";
    return this.#operate(["export", label], ctx, ({ userId, signal, audit }) =>
      this.#parts.runner.hold(
        ofStoreOnly(label, audit),
        userId,
        { scopes, writes: false, signal },
        async ({ reader }) => {
          const otherScopes = await this.#otherScopes(userId, reader);
          return { ...(await exportFiles(reader, scope, onProgress)), otherScopes };
        },
      ),
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
      const stage = async (reader: HeldReader, epochMs: number): Promise<StagedByHost> => {
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
    const stage = (reader: HeldReader, epochMs: number): Promise<StagedByHost> => trial.stage(reader, epochMs);
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
  #operate<Result>(
    [name, action]: readonly [name: string, action: string],
    ctx: CallContext,
    work: (operation: Operation) => Promise<Result>,
  ): Promise<Result> {
    return this.#parts.auditor.upkeep(name, action, async (audit) => {
      const asked = audit.nameFrom(ctx);
      this.#parts.checkOpen(action);
      return await work({ ...checkContext(asked, action), audit });
    });
  }

  /** A tool's call has a record of its own, under the operation's id. */
  #callTool(
    name: string,
    input: unknown,
    { userId, signal, audit: ofOperation }: Operation,
    options: Omit<RunOptions, "audit" | "signal">,
  ): Promise<ToolResult> {
    const { runner, auditor, granted, tools } = this.#parts;
    return auditor.call(name, `call ${name}`, async (audit) => {
      audit.nameFrom({ userId, callId: ofOperation.callId, labels: ofOperation.labels });
      try {
        const [found] = tools.forHost(name);
        if (!found) throw new ToolError("TOOL_UNKNOWN", "x");
        audit.found(granted(found));
        return await runner.run(found, input, userId, { ...options, audit, signal });
      } finally {
        if (audit.isCommitted) ofOperation.toolHasCommitted();
      }
    });
  }

  /** A hold for writing finishes what a crash has left, and a thorough one all else that the store can mend. */
  async #mend(operation: Operation): Promise<void> {
    const { userId, signal, audit } = operation;
    const isInspected = this.#parts.tools.forHost(inspector).length > 0;
    if (isInspected) throwFailure(await this.#callTool(inspector, { mend: true }, operation, { isThorough: true }));
    const label = ofStoreOnly("mend a user's files", audit);
    await mendPlaces({ ...this.#parts, userId, label, signal }, { isInspected });
  }

  async #inspect(operation: Operation): Promise<Finding[]> {
    const { userId, signal, audit } = operation;
    const label = ofStoreOnly("inspect a user's files", audit);
    const ofStore: Finding[] = await findingsInPlaces({ ...this.#parts, userId, label, signal });
    if (!(this.#parts.tools.forHost(inspector).length > 0)) return ofStore;
    const looked = await this.#callTool(inspector, { mend: false }, operation, { isLookingOnly: true });
    return [...ofStore, ...findingsIn(looked, scope)];
  }

  #listTrash({ userId, signal, audit }: Operation): Promise<TrashedFile[]> {
    const label = ofStoreOnly("list the trash", audit);
    return this.#parts.runner.hold(label, userId, { scopes, writes: false, signal }, ({ reader }) =>
      trashedFiles(reader),
    );
  }
}

const ofStoreOnly = (action: string, { callId }: UpkeepAudit): HoldLabel => ({ action, tool: "store", callId });

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
