import { archivePlace } from "../archive/archive-file.ts";
import type { CallContext } from "../values/call-context.ts";
import { checkFields } from "../values/known-fields.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { inspectUser, mendedOf, mendUser, ofStore } from "./doctor.ts";
import type { EraseOptions, ErasePlan, Erasure } from "./erase-plan.ts";
import { eraseUser, planErasure } from "./erase.ts";
import { exportUser } from "./export.ts";
import type { DiffOptions, FileDiff, FileVersion, HistoryOptions, RestoredVersion } from "./file-version.ts";
import type { Finding } from "./finding.ts";
import { finishAllErased } from "./finish-erased.ts";
import { diffVersions, listVersions, restoreVersion } from "./history.ts";
import { checkFiles } from "./import-files.ts";
import { importFiles, planFiles } from "./import.ts";
import type { ExportOptions, ImportOptions, ImportPlan, MemoryExport } from "./memory-files.ts";
import { operate, readOnly } from "./operate.ts";
import type { UpkeepParts } from "./operation.ts";
import { approveWaiting, listWaiting, rejectWaiting, showWaiting } from "./pending.ts";
import { restoreFile } from "./restore.ts";
import { listTrash, purgeTrash } from "./trash.ts";
import { checkUndo } from "./undo-plan.ts";
import type { UndoOptions, UndoPlan } from "./undo-plan.ts";
import { planUndo, undoChanges } from "./undo.ts";
import type { TrashedFile, Upkeep } from "./upkeep.ts";
import type { Approval, ShownWrite, WaitingWrite } from "./waiting-write.ts";

export interface LocalUpkeepParts extends UpkeepParts {
  /** Whether a path is inside the users' data. */
  readonly isAmongUsers: (file: string) => boolean;
}

/** Runs the operations of the data's owner. Asks the plugins, by their tools' roles, what the text in files means. */
export class LocalUpkeep implements Upkeep {
  readonly #parts: LocalUpkeepParts;

  constructor(parts: LocalUpkeepParts) {
    this.#parts = parts;
  }

  async users(): Promise<string[]> {
    this.#parts.admission.checkOpen("list users");
    return (await this.#parts.store.users()).toSorted();
  }

  async strays(): Promise<Finding[]> {
    this.#parts.admission.checkOpen("list users");
    return (await this.#parts.store.strays()).map(ofStore);
  }

  async mendStrays(): Promise<Finding[]> {
    const { admission, store, isReadOnly } = this.#parts;
    using _arrived = admission.arrive();
    if (isReadOnly) throw readOnly("mend what is no user's");
    const before = await this.strays();
    await finishAllErased(store, admission.waitMs);
    return mendedOf(before, await this.strays());
  }

  inspect(ctx: CallContext): Promise<Finding[]> {
    return operate(this.#parts, ["inspect", "inspect a user's files"], ctx, inspectUser);
  }

  mend(ctx: CallContext): Promise<Finding[]> {
    return operate(this.#parts, ["mend", "mend a user's files"], ctx, mendUser);
  }

  listTrash(ctx: CallContext): Promise<TrashedFile[]> {
    return operate(this.#parts, ["listTrash", "list the trash"], ctx, listTrash);
  }

  pending(ctx: CallContext): Promise<WaitingWrite[]> {
    return operate(this.#parts, ["listPending", "list the writes that wait"], ctx, listWaiting);
  }

  showPending(ctx: CallContext, id: string): Promise<ShownWrite> {
    checkId(id, "showPending");
    return operate(this.#parts, ["showPending", "show a write that waits"], ctx, (operation) =>
      showWaiting(operation, id),
    );
  }

  approve(ctx: CallContext, id: string): Promise<Approval> {
    checkId(id, "approve");
    return operate(this.#parts, ["approve", "approve a write"], ctx, (operation) => approveWaiting(operation, id));
  }

  reject(ctx: CallContext, id: string): Promise<WaitingWrite> {
    checkId(id, "reject");
    return operate(this.#parts, ["reject", "reject a write"], ctx, (operation) => rejectWaiting(operation, id));
  }

  restore(ctx: CallContext, name: string, options: { readonly scope?: string } = {}): Promise<TrashedFile> {
    checkFields("restore()", options, { scope: true });
    const { scope } = options;
    if (typeof name !== "string") throw new TypeError("restore() needs the name of what to restore");
    if (scope !== undefined && typeof scope !== "string") throw new TypeError("restore() needs the scope as a text");
    return operate(this.#parts, ["restore", "restore an entry"], ctx, (operation) =>
      restoreFile(operation, name, scope),
    );
  }

  purge(ctx: CallContext, options: { readonly beforeEpochMs: number }): Promise<TrashedFile[]> {
    checkFields("purge()", options, { beforeEpochMs: true });
    const { beforeEpochMs } = options;
    if (!Number.isFinite(beforeEpochMs)) throw new RangeError(`beforeEpochMs is ${beforeEpochMs}, not milliseconds`);
    return operate(this.#parts, ["purge", "purge the trash"], ctx, (operation) => purgeTrash(operation, beforeEpochMs));
  }

  history(ctx: CallContext, options: HistoryOptions = {}): Promise<FileVersion[]> {
    checkFields("history()", options, { scope: true, path: true });
    const { scope, path } = options;
    if (scope !== undefined && typeof scope !== "string") throw new TypeError("history() needs the scope as a text");
    if (path !== undefined && typeof path !== "string") throw new TypeError("history() needs the path as a text");
    return operate(this.#parts, ["history", "show the history"], ctx, (operation) =>
      listVersions(operation, { scope, path }),
    );
  }

  diff(ctx: CallContext, name: string, options: DiffOptions): Promise<FileDiff> {
    checkFields("diff()", options, { from: true, to: true, scope: true });
    const { from, to, scope } = options;
    if (typeof name !== "string") throw new TypeError("diff() needs the name of a file");
    if (scope !== undefined && typeof scope !== "string") throw new TypeError("diff() needs the scope as a text");
    if (from !== "before") checkVersion("diff", from);
    if (to !== undefined || from === "before") checkVersion("diff", to);
    return operate(this.#parts, ["diff", "compare versions of"], ctx, (operation) =>
      diffVersions(operation, name, { from, to, scope }),
    );
  }

  restoreVersion(
    ctx: CallContext,
    name: string,
    options: { readonly version: number; readonly scope?: string | undefined },
  ): Promise<RestoredVersion> {
    checkFields("restoreVersion()", options, { version: true, scope: true });
    const { version, scope } = options;
    if (typeof name !== "string") throw new TypeError("restoreVersion() needs the name of a file");
    if (scope !== undefined && typeof scope !== "string")
      throw new TypeError("restoreVersion() needs the scope as a text");
    checkVersion("restoreVersion", version);
    return operate(this.#parts, ["restoreVersion", "restore a version of"], ctx, (operation) =>
      restoreVersion(operation, { name, scope }, version),
    );
  }

  planUndo(ctx: CallContext, options: UndoOptions): Promise<UndoPlan> {
    const which = checkUndo(options);
    return operate(this.#parts, ["planUndo", "plan an undo"], ctx, (operation) => planUndo(operation, which));
  }

  undo(ctx: CallContext, options: UndoOptions): Promise<UndoPlan> {
    const which = checkUndo(options);
    return operate(this.#parts, ["undo", "undo changes"], ctx, (operation) => undoChanges(operation, which));
  }

  export(ctx: CallContext, options: ExportOptions = {}): Promise<MemoryExport> {
    checkFields("export()", options, { scopes: true, onProgress: true });
    return operate(this.#parts, ["export", "export a user's memory"], ctx, (operation) =>
      exportUser(operation, options),
    );
  }

  planErase(ctx: CallContext): Promise<ErasePlan> {
    return operate(this.#parts, ["planErase", "plan an erasure"], ctx, planErasure);
  }

  erase(ctx: CallContext, options: EraseOptions = {}): Promise<Erasure> {
    checkFields("erase()", options, { export: true });
    const { export: file } = options;
    if (file !== undefined && (typeof file !== "string" || file === "")) {
      throw new TypeError("erase() needs the export as the path of a file");
    }
    const place = file === undefined ? null : archivePlace(file);
    return operate(this.#parts, ["erase", "erase the user"], ctx, async (operation) => {
      if (place !== null && this.#parts.isAmongUsers(place)) throw amongUsers(operation.action);
      return await eraseUser(operation, place);
    });
  }

  planImport(ctx: CallContext, files: readonly MemoryFile[], options: ImportOptions = {}): Promise<ImportPlan> {
    checkFields("planImport()", options, { replace: true, scopes: true });
    const { replace, scopes } = options;
    checkFiles(files);
    return operate(this.#parts, ["planImport", "plan an import"], ctx, (operation) =>
      planFiles(operation, files, { replace, scopes }),
    );
  }

  import(ctx: CallContext, files: readonly MemoryFile[], options: ImportOptions = {}): Promise<ImportPlan> {
    checkFields("import()", options, { replace: true, scopes: true });
    const { replace, scopes } = options;
    checkFiles(files);
    return operate(this.#parts, ["import", "import a user's memory"], ctx, (operation) =>
      importFiles(operation, files, { replace, scopes }),
    );
  }
}

function checkId(id: unknown, name: string): void {
  if (typeof id !== "string") throw new TypeError(`${name}() needs the id of a write that waits`);
}

const amongUsers = (action: string): ToolError =>
  new ToolError("INPUT_INVALID", `Cannot ${action}: export is a file in the data folder, allowed: one outside`);

function checkVersion(method: string, version: unknown): void {
  if (!Number.isSafeInteger(version)) throw new TypeError(`${method}() needs the number of a version`);
}
