import type { CallContext } from "../values/call-context.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { inspectUser, mendUser, ofStore } from "./doctor.ts";
import { exportUser } from "./export.ts";
import type { Finding } from "./finding.ts";
import { checkFiles } from "./import-files.ts";
import { importFiles, planFiles } from "./import.ts";
import type { ExportOptions, ImportOptions, ImportPlan, MemoryExport } from "./memory-files.ts";
import { operate } from "./operation.ts";
import type { UpkeepParts } from "./operation.ts";
import { restoreFile } from "./restore.ts";
import { listTrash, purgeTrash } from "./trash.ts";
import type { TrashedFile, Upkeep } from "./upkeep.ts";

/** Runs the operations of the data's owner. Asks the plugins, by their tools' roles, what the text in files means. */
export class LocalUpkeep implements Upkeep {
  readonly #parts: UpkeepParts;

  constructor(parts: UpkeepParts) {
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

  inspect(ctx: CallContext): Promise<Finding[]> {
    return operate(this.#parts, ["inspect", "inspect a user's files"], ctx, inspectUser);
  }

  mend(ctx: CallContext): Promise<Finding[]> {
    return operate(this.#parts, ["mend", "mend a user's files"], ctx, mendUser);
  }

  listTrash(ctx: CallContext): Promise<TrashedFile[]> {
    return operate(this.#parts, ["listTrash", "list the trash"], ctx, listTrash);
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

  export(ctx: CallContext, options: ExportOptions = {}): Promise<MemoryExport> {
    return operate(this.#parts, ["export", "export a user's memory"], ctx, (operation) =>
      exportUser(operation, options),
    );
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
