import { archivePlace } from "../archive/archive-file.ts";
import { finishErased } from "../sharing/finish-erased.ts";
import type { CallContext } from "../values/call-context.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { approveWaiting } from "./approve.ts";
import { inspectUser, mendedOf, mendUser, ofStore } from "./doctor.ts";
import type { EraseOptions, ErasePlan, Erasure } from "./erase-plan.ts";
import { eraseUser, planErasure } from "./erase.ts";
import { exportUser } from "./export.ts";
import type { FileVersion, HistoryOptions } from "./file-version.ts";
import type { Finding } from "./finding.ts";
import { listVersions } from "./history.ts";
import { checkFiles } from "./import-files.ts";
import { importFiles, planFiles } from "./import.ts";
import type { ExportOptions, ImportOptions, ImportPlan, MemoryExport } from "./memory-files.ts";
import { operate, readOnly } from "./operation.ts";
import type { UpkeepParts } from "./operation.ts";
import { listWaiting, rejectWaiting, showWaiting } from "./pending.ts";
import { restoreFile } from "./restore.ts";
import { listTrash, purgeTrash } from "./trash.ts";
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
    for (const erased of await store.erased.list()) {
      const until = performance.now() + admission.waitMs;
      await finishErased(store, erased, { until, record: () => {} });
    }
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

  restore(ctx: CallContext, name: string, { scope }: { readonly scope?: string } = {}): Promise<TrashedFile> {
    if (typeof name !== "string") throw new TypeError("restore() needs the name of what to restore");
    if (scope !== undefined && typeof scope !== "string") throw new TypeError("restore() needs the scope as a text");
    return operate(this.#parts, ["restore", "restore an entry"], ctx, (operation) =>
      restoreFile(operation, name, scope),
    );
  }

  purge(ctx: CallContext, { beforeEpochMs }: { readonly beforeEpochMs: number }): Promise<TrashedFile[]> {
    if (!Number.isFinite(beforeEpochMs)) throw new RangeError(`beforeEpochMs is ${beforeEpochMs}, not milliseconds`);
    return operate(this.#parts, ["purge", "purge the trash"], ctx, (operation) => purgeTrash(operation, beforeEpochMs));
  }

  history(ctx: CallContext, { scope, path }: HistoryOptions = {}): Promise<FileVersion[]> {
    if (scope !== undefined && typeof scope !== "string") throw new TypeError("history() needs the scope as a text");
    if (path !== undefined && typeof path !== "string") throw new TypeError("history() needs the path as a text");
    return operate(this.#parts, ["history", "show the history"], ctx, (operation) =>
      listVersions(operation, { scope, path }),
    );
  }

  export(ctx: CallContext, options: ExportOptions = {}): Promise<MemoryExport> {
    return operate(this.#parts, ["export", "export a user's memory"], ctx, (operation) =>
      exportUser(operation, options),
    );
  }

  planErase(ctx: CallContext): Promise<ErasePlan> {
    return operate(this.#parts, ["planErase", "plan an erasure"], ctx, planErasure);
  }

  erase(ctx: CallContext, { export: file }: EraseOptions = {}): Promise<Erasure> {
    if (file !== undefined && (typeof file !== "string" || file === "")) {
      throw new TypeError("erase() needs the export as the path of a file");
    }
    const place = file === undefined ? null : archivePlace(file);
    return operate(this.#parts, ["erase", "erase the user"], ctx, async (operation) => {
      if (place !== null && this.#parts.isAmongUsers(place)) throw amongUsers(operation.action);
      return await eraseUser(operation, place);
    });
  }

  planImport(
    ctx: CallContext,
    files: readonly MemoryFile[],
    { replace, scopes }: ImportOptions = {},
  ): Promise<ImportPlan> {
    checkFiles(files);
    return operate(this.#parts, ["planImport", "plan an import"], ctx, (operation) =>
      planFiles(operation, files, { replace, scopes }),
    );
  }

  import(ctx: CallContext, files: readonly MemoryFile[], { replace, scopes }: ImportOptions = {}): Promise<ImportPlan> {
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
