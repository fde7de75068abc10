import type { JournalTail } from "./commit/find-records.ts";
import type { TouchedFile } from "./commit/retire.ts";

/** What a store remembers of a user between two calls. */
export interface UserMemo {
  /** As this process has left the journal; `null` when it has to be read. */
  tail: JournalTail | null;
  /** What the journal's records have touched since the last checkpoint. */
  readonly touched: Map<string, TouchedFile>;
  records: number;
  /** The journal's flush has failed: it is replaced before anything else is written. */
  isBroken: boolean;
}

export const newMemo = (): UserMemo => ({ tail: null, touched: new Map(), records: 0, isBroken: false });
