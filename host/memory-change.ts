/** What a call or an upkeep operation of this runtime has committed, told when it is durable. */
export interface MemoryChange {
  readonly userId: string;
  /** Each file that was written, moved to the trash or removed. */
  readonly files: readonly { readonly scope: string; readonly path: string }[];
}
