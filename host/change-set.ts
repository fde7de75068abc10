/** What a call wants to change, in order. Plain data: it travels from the worker to the side that commits. */
export type Change =
  | { readonly kind: "write"; readonly scope: string; readonly path: string; readonly content: string }
  /** A move to a path below `trash/` that was free when the call looked. */
  | { readonly kind: "trash"; readonly scope: string; readonly path: string; readonly trashed: string };

export type ChangeSet = readonly Change[];
