/** The types for taking changes back. */

/** Which changes: exactly one field is given. */
export interface UndoOptions {
  /** Those of a run, as the program has named it (`ctx.origin.run`). */
  readonly run?: string | undefined;
  /** Those that come from a source, as the program has named it (`ctx.origin.source`). */
  readonly source?: string | undefined;
  /** All since a time, that time included. */
  readonly since?: Date | undefined;
}

/** What an undo does, or would do. Paths begin with the scope: `memory/editor.md`. Sorted. */
export interface UndoPlan {
  /** Files that get back the content that they had. */
  readonly restored: readonly string[];
  /** Files that were not there before. They go to the trash. */
  readonly trashed: readonly string[];
  /** Files that a plugin makes from others, such as an index, and has made anew. They go if nothing is left to make them from. */
  readonly derived: readonly string[];
  /** Files that others have changed since, by calls or by hand, so that they can repeat what was written. They stay. */
  readonly builtOn: readonly BuiltOnFile[];
  /** What should be undone and cannot be. It stays. */
  readonly left: readonly LeftFile[];
  /**
   * The writes of the run, or from the source, that wait for the owner of the memory, the oldest first. They are rejected
   * last, for good. Those since a time are not: they have changed nothing.
   */
  readonly waiting: readonly RejectedWrite[];
}

export interface RejectedWrite {
  readonly id: string;
  readonly tool: string;
  /** The files that it would change, with their scopes, without those that its plugin makes from others. */
  readonly paths: readonly string[];
}

export interface BuiltOnFile {
  readonly path: string;
  /** The numbers of the versions that were built on it, the oldest first. Empty for an edit by hand that has none yet. */
  readonly versions: readonly number[];
}

export interface LeftFile {
  /** Only the scope if it concerns all of its files. */
  readonly path: string;
  /** As a clause about "it". */
  readonly reason: string;
}
