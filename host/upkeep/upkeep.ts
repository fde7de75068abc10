/** What the owner of the data may do and no tool may: look after the files, and look into the trash. As types. */
import type { CallContext } from "../values/call-context.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import type { Finding } from "./finding.ts";
import type { ExportOptions, ImportOptions, ImportPlan, MemoryExport } from "./memory-files.ts";

export interface TrashedFile {
  /** The scope whose trash it is in: `memory` for entries; another plugin's for its files. */
  readonly scope: string;
  /** The name to restore it by: its path below `trash/`. */
  readonly name: string;
  /** Where it lay, inside its scope. */
  readonly path: string;
  /** Since when it is in the trash, in milliseconds since 1970. */
  readonly epochMs: number;
  readonly bytes: number;
}

/**
 * Every operation waits, is bounded and is cancelled (`ctx.signal`) as `Runtime.call` is, and rejects with a `ToolError`.
 * One that has begun to change files tells what became of it.
 */
export interface Upkeep {
  /** The ids of all users who have a folder, sorted. */
  users(): Promise<string[]>;

  /**
   * What is wrong with a user's files, and what `mend` would do. Changes nothing. What is no plain file, or unfinished, is
   * found in all scopes; what text means is judged in the scope `memory` alone, and only when user-memory is loaded.
   *
   * @example
   * for (const { path, message, remedy } of await runtime.upkeep.inspect({ userId: "alice" })) {
   *   console.log(`${path}: ${message}; ${remedy ?? "needs a person"}`);
   * }
   */
  inspect(ctx: CallContext): Promise<Finding[]>;

  /**
   * Does what `inspect` has announced, durably and as one change set, and returns what it put right. What a person has
   * written is never destroyed: it goes to the trash. When the runtime is closed meanwhile and the grace period ends, it
   * may reject with `CANCELLED` after it has mended.
   */
  mend(ctx: CallContext): Promise<Finding[]>;

  /** What lies in a user's trash, the latest first: of all scopes that lie with `memory`, and of none that is mounted elsewhere. */
  listTrash(ctx: CallContext): Promise<TrashedFile[]>;

  /**
   * Puts an entry back and takes it out of the trash. `name` is one of `listTrash`, or an entry's name for what was
   * trashed last of it. Of the scope `memory` alone. Rejects with `ENTRY_NOT_FOUND`, with `NAME_CONFLICT` when an entry of
   * that name exists, and with `TOOL_UNKNOWN` when user-memory is not loaded.
   */
  restore(ctx: CallContext, name: string): Promise<TrashedFile>;

  /** Removes what is in the trash of any scope since before a time, for good, and returns what that was. */
  purge(ctx: CallContext, options: { readonly beforeEpochMs: number }): Promise<TrashedFile[]>;

  /**
   * A user's memory with its trash, as it is while nobody changes it: bytes as on the disk. A user who has none has no
   * files. It is the scope `memory`: `otherScopes` names what else the user has. Rejects with `QUOTA_EXCEEDED` beyond 20,000 files or 128 MiB, which tools cannot fill a folder with.
   *
   * @example
   * const { files, leftOut } = await runtime.upkeep.export({ userId: "alice" });
   * for (const { path, content } of files) console.log(path, content.length);
   */
  export(ctx: CallContext, options?: ExportOptions): Promise<MemoryExport>;

  /**
   * What `import` would do with some files, and why it would refuse them. Changes nothing.
   *
   * @example
   * const { refused } = await runtime.upkeep.planImport({ userId: "bob" }, files);
   * for (const { path, reason } of refused) console.log(`${path}: ${reason}`);
   */
  planImport(ctx: CallContext, files: readonly MemoryFile[], options?: ImportOptions): Promise<ImportPlan>;

  /**
   * Adds files to a user's memory, durably and as one change set: all of them or none. For a user who has no memory the
   * folder becomes byte for byte what the files say. Otherwise entries are added, the index is kept and lists them too,
   * and nothing that is there is overwritten. The files are checked as everything is that enters a user's folder: paths,
   * names, sizes, quotas, and by the plugin whether it can read each entry.
   *
   * Rejects with `TOOL_UNKNOWN` when user-memory is not loaded, and else with the code of the first file that is refused, and names some: `INPUT_INVALID` for a path that is none of
   * memory, `NAME_CONFLICT`, `NAME_RESERVED`, `ENTRY_UNREADABLE`, `QUOTA_EXCEEDED`. `planImport` names them all.
   *
   * @example
   * const { files } = await runtime.upkeep.export({ userId: "alice" });
   * const { created } = await runtime.upkeep.import({ userId: "bob" }, files);
   */
  import(ctx: CallContext, files: readonly MemoryFile[], options?: ImportOptions): Promise<ImportPlan>;
}
