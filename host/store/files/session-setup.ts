import type { UserHome } from "./user-folder.ts";
import type { UserMemo } from "./user-memo.ts";

/** What a session is begun with. */
export interface SessionSetup {
  readonly home: UserHome;
  readonly memo: UserMemo;
  /** Whether the folder records its owner. */
  readonly isOwned: boolean;
  /** Whether to put right what a usual call may leave for later. */
  readonly isThorough: boolean;
  readonly isFlushed: boolean;
  readonly boot: string | null;
  readonly note: (text: string) => void;
}
