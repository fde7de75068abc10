import type { LeftOver } from "../store/engine.ts";
export type { LeftOver } from "../store/engine.ts";
export interface EraseOptions {
  /** The zip file to write before anything is removed. Default: none. */
  readonly export?: string | undefined;
}

/** What an erasure removes. */
export interface ErasePlan {
  /** Sorted by scope. `store` is the user's own store; `null`, the last, is what is in no scope, such as the host's own files. */
  readonly contents: readonly ErasedContent[];
  /** The ids of the own stores of those to whom the user has granted access. */
  readonly grantees: readonly string[];
  /** The stores that have granted the user access. */
  readonly granters: readonly string[];
  /** Mounted scopes. Their folders stay. */
  readonly mounted: readonly string[];
  /** Folders that cannot be opened: what is in them is not counted and stays. */
  readonly closed: readonly LeftOver[];
}

/** How much there is in one place. */
export interface ErasedContent {
  readonly scope: string | null;
  readonly files: number;
  readonly bytes: number;
}

export interface Erasure extends ErasePlan {
  /** What could not be removed. No tool reaches it. The next start of a runtime tries again, and so does the doctor. */
  readonly left: readonly LeftOver[];
}
