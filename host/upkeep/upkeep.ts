/** What the owner of the data may do and no tool may: look after the files, and look into the trash. As types. */
import type { CallContext } from "../values/call-context.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import type { Finding } from "./finding.ts";
import type { ExportOptions, ImportOptions, ImportPlan, MemoryExport } from "./memory-files.ts";

export interface TrashedFile {
  /** The scope whose trash it is in, such as `memory` or `journal`. */
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
   * found in all scopes; what files say is judged by each loaded plugin that can judge its own.
   *
   * @example
   * for (const { path, message, remedy } of await runtime.upkeep.inspect({ userId: "alice" })) {
   *   console.log(`${path}: ${message}; ${remedy ?? "needs a person"}`);
   * }
   */
  inspect(ctx: CallContext): Promise<Finding[]>;

  /**
   * Does what `inspect` has announced, durably and one change set for each plugin, and returns what it put right. What a
   * person has written is never destroyed: it goes to the trash. When a plugin fails, the others mend what is theirs, and it
   * rejects with the first failure. When the runtime is closed meanwhile and the grace period ends, it may reject with
   * `CANCELLED` after it has mended.
   */
  mend(ctx: CallContext): Promise<Finding[]>;

  /** What lies in the trash of all of a user's scopes, the latest first. */
  listTrash(ctx: CallContext): Promise<TrashedFile[]>;

  /**
   * Puts a file back and takes it out of the trash. `name` is one of `listTrash`, or an entry's name for what was trashed
   * last of it, where its plugin keeps each entry in a file of its own; `scope` looks in one scope's trash alone. Where its
   * plugin cannot put files back, or the file is none of its entries, it comes back as it was, byte for byte. Rejects with
   * `ENTRY_NOT_FOUND`, with `NAME_CONFLICT` when something is in its place, which the message names, with `TOOL_UNKNOWN` when
   * no loaded plugin has its scope, with `INPUT_INVALID` for a file that lay in the trash already, and with `OUTPUT_INVALID`,
   * the file still in the trash, when its plugin says that it has put it back and has not.
   *
   * @example
   * await runtime.upkeep.restore({ userId: "alice" }, "editor", { scope: "memory" });
   */
  restore(ctx: CallContext, name: string, options?: { readonly scope?: string }): Promise<TrashedFile>;

  /** Removes what is in the trash of any scope since before a time, for good, and returns what that was. */
  purge(ctx: CallContext, options: { readonly beforeEpochMs: number }): Promise<TrashedFile[]>;

  /**
   * A user's scopes with their trash, or some of them: bytes as on the disk, each scope as it is while nobody changes it, whatever
   * plugins say of it. A user who has none has no files. Rejects with `QUOTA_EXCEEDED` beyond 60,000 files or 128 MiB together,
   * where `scopes` helps, and with `INPUT_INVALID` for a scope that nobody has.
   *
   * @example
   * const { files, leftOut } = await runtime.upkeep.export({ userId: "alice" });
   * for (const { scope, path, content } of files) console.log(scope, path, content.length);
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
   * Adds files to a user's scopes, durably. What no loaded plugin keeps, a scope or a path, is left out and told, unless nothing
   * else is there. All others are planned first, and one that is refused keeps all of them out.
   * Each scope is then one change set: all of its files or none. When the second scope fails for a reason that the plan
   * could not know, such as a full disk, the first is there; the same import again adds what is missing.
   *
   * For a user who has nothing the scope becomes byte for byte what the files say. Otherwise files are added, what a plugin
   * makes from them (an index) is kept and brought up to date, and nothing that is there is overwritten. The files are
   * checked as everything is that enters a user's folder: paths, sizes, quotas, and by the scope's plugin, if it can judge
   * them, names and whether it can read each.
   *
   * Rejects with the code of the first file that is refused, and names some: `INPUT_INVALID` for a path that none has,
   * `NAME_CONFLICT`, `ENTRY_UNREADABLE`, `QUOTA_EXCEEDED`; where all is left out, `TOOL_UNKNOWN` for a scope that no loaded plugin
   * has, `INPUT_INVALID` or `NAME_RESERVED` for a path. `planImport` names them all.
   *
   * @example
   * const { files } = await runtime.upkeep.export({ userId: "alice" });
   * const { created } = await runtime.upkeep.import({ userId: "bob" }, files);
   */
  import(ctx: CallContext, files: readonly MemoryFile[], options?: ImportOptions): Promise<ImportPlan>;
}
