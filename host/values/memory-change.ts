/** The changes that a call or an upkeep operation of this runtime has committed durably. Deeply frozen. */
export interface MemoryChange {
  /** The user whose call or operation it was. In another's shared store, too, that is the caller, not the owner. */
  readonly userId: string;
  /**
   * The files that were written, moved to or from the trash (both paths) or removed, in the order of the changes.
   *
   * `scope` is `store:<id>` for a shared store, the user's own included. In `families()`, `store:*` stands for it.
   */
  readonly files: readonly { readonly scope: string; readonly path: string }[];
}
