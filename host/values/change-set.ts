/** What a call wants to change, in order. Plain data: it travels from the worker to the side that commits. */
export type Change =
  | {
      readonly kind: "write";
      readonly scope: string;
      readonly path: string;
      /** Text from guests. What the host brings from elsewhere need be none. */
      readonly content: string | Uint8Array;
    }
  /** A move to a path below `trash/` that was free when the call looked. */
  | { readonly kind: "trash"; readonly scope: string; readonly path: string; readonly trashed: string }
  /** For good. Never a tool's: only the owner of the data empties the trash. */
  | { readonly kind: "remove"; readonly scope: string; readonly path: string };

export type ChangeSet = readonly Change[];

/** A change that knows what its file takes, in bytes: what is written, moved or removed. */
export type SizedChange = Change & { readonly bytes: number };

/** What a call has read: a file, and the SHA-256 of what it held, or `null` when there was none. */
export interface Seen {
  readonly scope: string;
  readonly path: string;
  readonly digest: string | null;
}
