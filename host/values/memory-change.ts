/** The changes that a call or an upkeep operation of this runtime has committed durably. Deeply frozen. */
export interface MemoryChange {
  readonly userId: string;
  /** The files that were written, moved to or from the trash (both paths) or removed, in the order of the changes. */
  readonly files: readonly { readonly scope: string; readonly path: string }[];
}
