/** The types for what goes out of a memory, and what comes into it. */
import type { CallContext } from "../values/call-context.ts";
import type { ForeignFile, ImportedFile } from "../values/memory-file.ts";
import type {
  ExportOptions,
  ImportOptions,
  ImportPlan,
  MemoryExport,
  MoveInOptions,
  MoveInPlan,
  OpenExport,
} from "./memory-files.ts";

/** A part of `Upkeep`. */
export interface Transfers {
  /**
   * Returns a user's scopes, or some of them, with their trash: the bytes on the disk, whatever plugins say of them. No call changes
   * a scope while it is read. It is all in memory then; `openExport` is for more. Rejects with `INPUT_INVALID` for an unknown scope.
   *
   * @example
   * const { files, leftOut } = await runtime.upkeep.export({ userId: "alice" });
   * for (const { scope, path, content } of files) console.log(scope, path, content.length);
   */
  export(ctx: CallContext, options?: ExportOptions): Promise<MemoryExport>;

  /**
   * The same for a memory of any size: contents are read later, some at a time, and are as when their scope was looked at. No call
   * waits for whoever reads them. What was changed since is taken from the history; what is kept nowhere any more, such as a text
   * that somebody has edited by hand, comes into `leftOut`. To read on rejects with `CLOSED` once the runtime is closed.
   *
   * @example
   * const { files, leftOut, contents } = await runtime.upkeep.openExport({ userId: "alice" });
   * for await (const { path, content } of contents()) console.log(`${path}: ${content.length} bytes, of ${files.length} files`);
   * for (const { path, reason } of leftOut) console.log(`${path}: ${reason}`);
   */
  openExport(ctx: CallContext, options?: ExportOptions): Promise<OpenExport>;

  /**
   * Returns what `import` would do with some files, and why it would refuse them. Changes nothing.
   *
   * @example
   * const { refused } = await runtime.upkeep.planImport({ userId: "bob" }, files);
   * for (const { path, reason } of refused) console.log(`${path}: ${reason}`);
   */
  planImport(ctx: CallContext, files: readonly ImportedFile[], options?: ImportOptions): Promise<ImportPlan>;

  /**
   * Adds files to a user's scopes, durably. Scopes and paths that no loaded plugin keeps are left out and reported, unless there is
   * nothing else. All other files are planned first: if one is refused, none is imported. Then each scope is one change set: all of
   * its files or none. If the second scope fails for a reason that the plan could not know, such as a full disk, the first stays
   * imported; the same import again adds what is missing. In place of its content, a file can have the number of its `bytes` and a
   * function that reads them: then only one scope at a time is in memory.
   *
   * If the user has nothing, the scope becomes byte for byte what the files say. Otherwise files are added, what a plugin makes from
   * them (an index) is kept and updated, and no existing file is overwritten. The host checks paths, sizes and quotas as for every
   * file: a scope has at most 64 MiB, 20,000 files, and 60,000 with its trash. The scope's plugin, if it can inspect, checks names
   * and whether it can read each file. No file is trusted more than `unstated`, nor more than its `trust`, which an export has set.
   *
   * Rejects with the code of the first refused file, and names some: `INPUT_INVALID` for an invalid path, `NAME_CONFLICT`,
   * `ENTRY_UNREADABLE`, `QUOTA_EXCEEDED`. If all files are left out: `TOOL_UNKNOWN` for a scope that no loaded plugin has,
   * `INPUT_INVALID` or `NAME_RESERVED` for a path. `planImport` names up to 100.
   *
   * @example
   * const { files } = await runtime.upkeep.export({ userId: "alice" });
   * const { created } = await runtime.upkeep.import({ userId: "bob" }, files);
   */
  import(ctx: CallContext, files: readonly ImportedFile[], options?: ImportOptions): Promise<ImportPlan>;

  /** Returns what `moveIn` would do. Changes nothing. */
  planMoveIn(ctx: CallContext, files: readonly ForeignFile[], options?: MoveInOptions): Promise<MoveInPlan>;

  /**
   * Makes entries of what another program keeps as memory, and imports them. What the files are is found out by a plugin in the
   * sandbox, which has no right at all (the bundled `move-in`): folders of Claude's memory tool and of Claude Code, notes of
   * basic-memory and Obsidian, mem0's JSON, lists of memories as text. Each entry has a name that a person recognises. Nothing
   * that is there is overwritten: an entry whose name is taken gets another one, and the same files a second time change nothing.
   * Texts are trusted as `unstated`, or as `from` says.
   *
   * Rejects as `import`, and with `TOOL_UNKNOWN` if no loaded plugin has the role `convert`, or the roles `add` and `entries`.
   *
   * @example
   * const read = async () => Buffer.from("- Likes tea\n- Lives in Graz\n");
   * const { created, left } = await runtime.upkeep.moveIn({ userId: "bob" }, [{ path: "memories.txt", read }]);
   */
  moveIn(ctx: CallContext, files: readonly ForeignFile[], options?: MoveInOptions): Promise<MoveInPlan>;
}
