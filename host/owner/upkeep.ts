/** The types for what only the owner of the data may do: look after the files, use the trash, and decide about writes that wait. */
import type { CallContext } from "../values/call-context.ts";
import type { EraseOptions, ErasePlan, Erasure } from "./erase-plan.ts";
import type { DiffOptions, FileDiff, FileVersion, HistoryOptions, RestoredVersion } from "./file-version.ts";
import type { Finding } from "./finding.ts";
import type { ChangedEntry, ChangeSource, EntryChoice, OwnEntries, ShownEntry, TrashedFile } from "./own-entry.ts";
import type { Transfers } from "./transfers.ts";
import type { UndoOptions, UndoPlan } from "./undo-plan.ts";
import type { Approval, ApproveOptions, ShownWrite, WaitingWrite } from "./waiting-write.ts";

/**
 * Every operation waits, has limits and can be cancelled (`ctx.signal`) as `Runtime.call`, and rejects with a
 * `ToolError`. One that has begun to change files reports the result. In a read-only runtime, `mend`, `add`, `edit`, `trash`, `vouch`, `restore`,
 * `restoreVersion`, `purge`, `planUndo`, `undo`, `approve`, `reject`, `planImport`, `import`, `planMoveIn` and `moveIn` reject with `READ_ONLY`. Wrong and unknown options are a `TypeError`.
 */
export interface Upkeep extends Transfers {
  /**
   * The ids of all users who have a folder or an own store, sorted. A chat's store is kept up like a user's: under the
   * chat's id.
   */
  users(): Promise<string[]>;

  /**
   * Reports folders that lie among users' and stores', and belong to nobody: no user's operation reaches them. Only a
   * person can help, except with what is left of erased users.
   */
  strays(): Promise<Finding[]>;

  /**
   * Removes what `strays` has found to be left of erased users, and what else is left to do for them. Returns what it
   * mended. The first erasure has recorded it.
   */
  mendStrays(): Promise<Finding[]>;

  /**
   * Does an operation by its name, with its whole input as one object: for pages and APIs that offer all operations. The names
   * are those of the audit log: `restore`, `planUndo`, `listPending`. Throws a `TypeError` for an unknown name, and as the
   * operation's own method.
   *
   * @example
   * await runtime.upkeep.perform("restore", { userId: "alice" }, { name: "editor", scope: "memory" });
   */
  perform(name: string, ctx: CallContext, input?: Readonly<Record<string, unknown>>): Promise<unknown>;

  /**
   * Reports what is wrong with a user's files, and what `mend` would do. Changes nothing. In all scopes, finds
   * unfinished changes, anything but plain files, and names that no tool can use; names that begin with a dot are left
   * to other programs. Each loaded plugin that can inspect judges the content of its own files. A scope with files that
   * no loaded plugin has is the finding `not-inspected`.
   *
   * @example
   * for (const { path, message, remedy } of await runtime.upkeep.inspect({ userId: "alice" })) {
   *   console.log(`${path}: ${message}; ${remedy ?? "needs a person"}`);
   * }
   */
  inspect(ctx: CallContext): Promise<Finding[]>;

  /**
   * Does what `inspect` has announced, durably, in one change set for each plugin. Returns what it mended. Never
   * destroys what a person has written: it goes to the trash. If a plugin fails, the others still mend, and `mend`
   * rejects with the first failure. If the runtime is closed meanwhile and the grace period ends, it can reject with
   * `CANCELLED` after it has mended.
   */
  mend(ctx: CallContext): Promise<Finding[]>;

  /**
   * Returns all entries of all loaded families, each with where its present text comes from: for the owner, so nothing is kept
   * out as in a prompt. A family that fails is in `left`.
   *
   * @example
   * const { entries } = await runtime.upkeep.entries({ userId: "alice" });
   * for (const { name, description, file } of entries) console.log(name, description, file?.trust, file?.source);
   */
  entries(ctx: CallContext): Promise<OwnEntries>;

  /**
   * Returns the entries that have some of the words in their name, description or text, the best first, each with a line of its
   * text; those of several families take turns. At most a page of each family. A family that cannot search is in `left`.
   *
   * @example
   * const { entries } = await runtime.upkeep.search({ userId: "alice" }, "hotel vienna");
   */
  search(ctx: CallContext, words: string): Promise<OwnEntries>;

  /**
   * Makes an entry of the owner's words: the plugin describes it, and names it if `name` is not given. No entry changes. Rejects
   * with `NAME_CONFLICT` if the name is taken, with the plugin's code for a text that it cannot keep, and with `INPUT_INVALID` if
   * several families can add entries and none is named.
   *
   * @example
   * const { name } = await runtime.upkeep.add({ userId: "alice" }, "No nuts: I am allergic to them.");
   */
  add(
    ctx: CallContext,
    text: string,
    options?: { readonly name?: string | undefined; readonly family?: string | undefined },
  ): Promise<ShownEntry>;

  /**
   * Returns an entry with the whole text of its file. `name` is its name, also as a person types it ("Preferred language" for
   * `preferred-language`), or the path of a file, with or without its scope. Rejects with `ENTRY_NOT_FOUND`, and with
   * `INPUT_INVALID` if several files have the name.
   */
  entry(ctx: CallContext, name: string, options?: { readonly scope?: string | undefined }): Promise<ShownEntry>;

  /**
   * Writes the whole text of an entry's file, of any family, in one change set with what the plugin makes from it. The text is
   * then trusted as `owner_edit`, whatever it was before. `name` as for `entry`.
   *
   * Rejects as `entry`; with `VERSION_CONFLICT` if the file has another content than `ifSha256`; with the plugin's code, such as
   * `ENTRY_UNREADABLE`, if the plugin could not use the file; with `QUOTA_EXCEEDED` for a text over 2 MiB. Nothing has changed then.
   *
   * @example
   * const { file, text } = await runtime.upkeep.entry({ userId: "alice" }, "editor");
   * const corrected = text?.replace("Vim", "Helix") ?? "";
   * await runtime.upkeep.edit({ userId: "alice" }, "editor", corrected, { ifSha256: file.sha256 });
   */
  edit(ctx: CallContext, name: string, text: string, options?: EntryChoice): Promise<ChangedEntry>;

  /** Moves an entry's file to the trash, in one change set with what the plugin makes from the others. Rejects as `edit`. */
  trash(ctx: CallContext, name: string, options?: EntryChoice): Promise<ChangedEntry>;

  /**
   * Says that the owner has read the content with this hash and that it is right: from then on it is trusted as `owner_edit`, and
   * carries no label for models. The file stays as it is. `restoreVersion` of an earlier version takes that back. Rejects as `edit`, and
   * with `INPUT_INVALID` without a hash.
   *
   * @example
   * const { file, text } = await runtime.upkeep.entry({ userId: "alice" }, "editor");
   * if (confirm(text)) await runtime.upkeep.vouch({ userId: "alice" }, "editor", file.sha256);
   */
  vouch(ctx: CallContext, name: string, sha256: string, options?: Pick<EntryChoice, "scope">): Promise<ChangedEntry>;

  /**
   * Returns the runs and the sources that have changed the memory or have writes waiting, the latest first, with counts, times and
   * the lowest trust: what `undo` can be asked for.
   *
   * @example
   * for (const { kind, name, changes, trust } of await runtime.upkeep.runs({ userId: "alice" })) console.log(kind, name, changes, trust);
   */
  runs(ctx: CallContext): Promise<ChangeSource[]>;

  /** Lists the trash of all of a user's scopes, the latest first. */
  listTrash(ctx: CallContext): Promise<TrashedFile[]>;

  /**
   * Puts a file back and takes it out of the trash. `name` is a name from `listTrash`. It can also be the
   * path that the file had, or an entry's name as for `entry`, if the plugin says which file an entry has (those of `stores` have only
   * paths): then the version that was trashed last comes back. If the
   * plugin says that further trashed files belong to it, such as the other files of a run, they come back in the same
   * commit. `scope` limits the search to one scope's trash. If the plugin cannot put files back, or the file is not one
   * of its entries, it comes back byte for byte.
   *
   * Rejects with `ENTRY_NOT_FOUND`; with `NAME_CONFLICT` if something is in its place, which the message names; with
   * `TOOL_UNKNOWN` if no loaded plugin has its scope; with `INPUT_INVALID` if its former place is in the trash; with
   * `OUTPUT_INVALID` if the plugin reports success but has not put it back, or names files that cannot belong to it:
   * then nothing has changed.
   *
   * @example
   * await runtime.upkeep.restore({ userId: "alice" }, "editor", { scope: "memory" });
   */
  restore(ctx: CallContext, name: string, options?: { readonly scope?: string }): Promise<TrashedFile>;

  /**
   * Removes for good what was trashed before a time, in all scopes. Returns what it removed. It needs no free room on the
   * disk. It is not atomic: after a crash, some of the files can be left.
   */
  purge(ctx: CallContext, options: { readonly beforeEpochMs: number }): Promise<TrashedFile[]>;

  /**
   * Returns every version of a user's files, the latest first: who wrote it, where its text comes from and how far that
   * is trusted. Versions are kept until they take 16 MiB. A file that somebody has edited by hand has a version for that
   * from the next change on that meets it. Files from before there was a history have none. Rejects with `INPUT_INVALID`
   * for an unknown scope.
   *
   * @example
   * for (const { at, path, trust, tool, run } of await runtime.upkeep.history({ userId: "alice" })) {
   *   console.log(at.toISOString(), path, trust, tool ?? "by hand", run ?? "");
   * }
   */
  history(ctx: CallContext, options?: HistoryOptions): Promise<FileVersion[]>;

  /**
   * Compares two versions of one file, or a version with the present content. `name` is the file's path, or an entry's
   * name as for `restore`, also of a deleted one.
   *
   * Rejects with `ENTRY_NOT_FOUND` if no version names the file, if a version is none of this file, or if its content is
   * no longer kept; with `INPUT_INVALID` if files of several scopes have the name.
   *
   * @example
   * const ctx = { userId: "alice" };
   * const [last] = await runtime.upkeep.history(ctx, { scope: "memory", path: "editor.md" });
   * // What the last version of the entry has changed.
   * const { lines } = await runtime.upkeep.diff(ctx, "editor", { from: "before", to: last?.seq });
   * console.log(lines?.join("\n") ?? "no text");
   */
  diff(ctx: CallContext, name: string, options: DiffOptions): Promise<FileDiff>;

  /**
   * Puts the content of a version of a file back, as a new version, durably; also of a file that was removed. `name` as
   * for `diff`. The plugin makes what it derives from the file anew, such as an index, in the same change set. The new
   * version is trusted no more than any version of the file with this content. What it replaces stays in the history.
   *
   * Rejects with `ENTRY_NOT_FOUND` as `diff`, and if there was no file after the version; with `NAME_CONFLICT` if
   * something is in its place; with `TOOL_UNKNOWN` if no loaded plugin has its scope; with `INPUT_INVALID` for a file in
   * the trash, which `restore` puts back; with `QUOTA_EXCEEDED` if the plugin has no room for one more entry; with `BUSY`
   * if it waits longer than `waitMs` for the user's other calls. Calls that write all the time do not stop it.
   *
   * @example
   * const ctx = { userId: "alice" };
   * const versions = await runtime.upkeep.history(ctx, { scope: "memory", path: "editor.md" });
   * const first = versions.at(-1);
   * if (first) await runtime.upkeep.restoreVersion(ctx, "editor", { version: first.seq });
   */
  restoreVersion(
    ctx: CallContext,
    name: string,
    options: { readonly version: number; readonly scope?: string | undefined },
  ): Promise<RestoredVersion>;

  /**
   * Returns what `undo` would do. Changes nothing. Rejects as `undo`.
   *
   * @example
   * const { restored, trashed, builtOn } = await runtime.upkeep.planUndo({ userId: "alice" }, { run: "run-7" });
   * console.log(restored, trashed, builtOn);
   */
  planUndo(ctx: CallContext, options: UndoOptions): Promise<UndoPlan>;

  /**
   * Takes back what a run has changed, or what came from a source, or all changes since a time: in the user's folder, in
   * mounted folders and in the own store. What a run has written in others' stores stays.
   *
   * Each file is then as it was before these changes: it gets the content back that it had, also if it was deleted or
   * moved, and a file that was not there goes to the trash. If others have changed a file since, by calls or by hand, it
   * stays as it is, and `builtOn` names it. `left` names what cannot be undone, such as files whose former content is no
   * longer kept. Indexes are made anew by their plugins. The new versions have the kind `undone`, belong to no run, and
   * are trusted no more than the versions that they put back. What the owner has put back counts as the version that it repeats.
   *
   * Writes of the run, or from the source, that wait for the owner are rejected when all else is done: `waiting` names them. One
   * that is approved meanwhile is taken back.
   *
   * The user's folder, each mounted folder and the own store are one change set each, or several for more than 2,000
   * changes. If the process is killed in between, the same undo again does what is missing; afterwards it does nothing.
   *
   * Rejects with `ENTRY_NOT_FOUND` if no version and no waiting write names the run or the source, and with `BUSY` if
   * a change set waits longer than `waitMs` for the user's other calls. Calls that write all the time do not stop it.
   *
   * @example
   * const { left } = await runtime.upkeep.undo({ userId: "alice" }, { source: "https://example.com/" });
   * for (const { path, reason } of left) console.log(`${path}: ${reason}`);
   */
  undo(ctx: CallContext, options: UndoOptions): Promise<UndoPlan>;

  /**
   * Returns what `erase` would remove. Changes nothing. Rejects as `erase`.
   *
   * @example
   * const { contents } = await runtime.upkeep.planErase({ userId: "alice" });
   * for (const { scope, files, bytes } of contents) console.log(scope ?? "other files", files, bytes);
   */
  planErase(ctx: CallContext): Promise<ErasePlan>;

  /**
   * Erases a user for good: the user's folder with all scopes and their trash, whatever plugins are loaded; the user's own
   * store with its grants; and the grants that others have given to the user. It is all or nothing, whenever the process
   * or the machine stops. It needs no free room on the disk. Calls of the user wait, or begin anew with an empty memory.
   *
   * What stays: the audit log; what the user has written in others' stores, which their owners remove (`stores.clear`); and
   * mounted folders.
   *
   * With `export`, first writes a zip file with all of it, as `memcell export` does. If that fails, or would leave anything
   * out (`STORAGE_UNSAFE`), nothing is removed. If the erasure fails later, the zip file stays.
   *
   * Rejects with `ENTRY_NOT_FOUND` if nothing is stored of the user; with `STORAGE_UNSAFE` if the folder belongs to another
   * user; with `BUSY` if others use the user's memory for too long; with `STORAGE_FULL` or `STORAGE_FAILED`, also if the
   * audit log cannot be written: then nothing is removed.
   *
   * @example
   * const { left } = await runtime.upkeep.erase({ userId: "alice" }, { export: "alice.zip" });
   * for (const { path, reason } of left) console.log(`could not be removed: ${path}: ${reason}`);
   */
  erase(ctx: CallContext, options?: EraseOptions): Promise<Erasure>;

  /**
   * Returns the writes that wait for the owner of the memory, the oldest first: those of calls whose text the policy does
   * not let take effect at once. They are in no index, read, list or search, and end after 30 days: then they are hidden, and
   * removed once a later reading of the clock agrees. At most 100 of a user wait, and 20 of a run, whose records have at
   * most 16 MiB together, and 4 MiB those of a run. What is more is `QUOTA_EXCEEDED` for the call.
   *
   * @example
   * for (const { id, tool, trust, files } of await runtime.upkeep.pending({ userId: "alice" })) {
   *   console.log(id, tool, trust, files.map(({ path }) => path).join(", "));
   * }
   */
  pending(ctx: CallContext): Promise<WaitingWrite[]>;

  /**
   * Returns a write that waits, beside the present files. Rejects with `ENTRY_NOT_FOUND` if none waits under this id; of the
   * last 200 decisions about the user's writes, the message says what has become of it.
   */
  showPending(ctx: CallContext, id: string): Promise<ShownWrite>;

  /**
   * Applies a write that waits, as it was shown, byte for byte: its call runs again, with the same input and at the same
   * time. From then on its files are trusted as the owner's. If the files that it changes have changed since, nothing is
   * applied, and it waits again under another id, as it would be now. Only the plugin's own index can differ.
   *
   * With `text`, the owner's own takes the place of the text that was shown, and the plugin makes its index anew, in the same
   * commit: it is applied so, or not at all. Its versions have the kind `corrected`, and the call's origin.
   *
   * Of several decisions about a write, by any host, the first counts. The others reject with `ENTRY_NOT_FOUND`, and are told
   * what has become of it, as by `showPending`: it was approved or rejected, at a time, or waits under another id.
   *
   * Rejects with `ENTRY_NOT_FOUND` if none waits under this id, with `TOOL_UNKNOWN` if its plugin is not loaded, with
   * the tool's own failure, such as `NAME_CONFLICT`, with the plugin's code if it could not use `text`, and with `INPUT_INVALID`
   * if there is a `text`, and the write has none or several: then it still waits.
   *
   * @example
   * const [first] = await runtime.upkeep.pending({ userId: "alice" });
   * if (first !== undefined) console.log((await runtime.upkeep.approve({ userId: "alice" }, first.id)).applied);
   */
  approve(ctx: CallContext, id: string, options?: ApproveOptions): Promise<Approval>;

  /** Drops a write that waits, for good. Rejects with `ENTRY_NOT_FOUND` if none waits under this id, as `approve`. */
  reject(ctx: CallContext, id: string): Promise<WaitingWrite>;
}
