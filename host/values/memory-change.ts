/** What a runtime tells its program as it happens. */

/** The call or operation behind it. */
export interface Cause {
  /** The user whose call or operation it was. In another's shared store, too, that is the caller, not the owner. */
  readonly userId: string;
  /** The tool's name, also of a plugin's tool that the owner's work calls; of other work the operation's, such as `purge`. */
  readonly tool: string;
  /** As in the audit log: the caller's own id, or a random one. */
  readonly callId: string;
  /** The run that the program has stated, `ctx.origin.run`. */
  readonly run: string | null;
}

/** The changes that a call or an upkeep operation of this runtime has committed durably. Deeply frozen. */
export interface MemoryChange extends Cause {
  /**
   * The files that were written, moved to or from the trash (both paths) or removed, in the order of the changes.
   *
   * `scope` is `store:<id>` for a shared store, the user's own included. In `families()`, `store:*` stands for it.
   */
  readonly files: readonly { readonly scope: string; readonly path: string }[];
}

/** A write that waits for the owner of the memory, for `runtime.upkeep.showPending` and `approve`. Frozen. */
export interface PendingNotice extends Cause {
  readonly id: string;
  /** Until when it waits, UTC, ISO 8601. */
  readonly expires: string;
}
