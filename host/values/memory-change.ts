/** What a call or an upkeep operation of this runtime has committed, told when it is durable. Frozen, as all in it. */
export interface MemoryChange {
  readonly userId: string;
  /** Each file that was written, moved to the trash (where it was, and where it is) or removed, in the order of changes. */
  readonly files: readonly { readonly scope: string; readonly path: string }[];
}
