import type { WalTail } from "./commit/find-records.ts";
import type { TouchedFile } from "./commit/retire.ts";

/** What a store remembers of a user between two calls. */
export interface UserMemo {
  /** As this process has left the WAL; `null` when it has to be read. */
  tail: WalTail | null;
  /** The host's own folder, once it was seen to record the user as its owner. */
  ownedIdentity: string | null;
  /** Whether the user's folder is a mounted one. */
  readonly isMounted: boolean;
  /** Whether disks fold case, as `ScopeFolders` has found out. */
  readonly folds: Map<string, boolean>;
  /** What the WAL's records have touched since the last checkpoint. */
  readonly touched: Map<string, TouchedFile>;
  records: number;
  /** The WAL's flush has failed: it is replaced before anything else is written. */
  isBroken: boolean;
}

export const newMemo = (isMounted: boolean): UserMemo => ({
  tail: null,
  ownedIdentity: null,
  isMounted,
  folds: new Map(),
  touched: new Map(),
  records: 0,
  isBroken: false,
});
