/** What every store offers to erase a user wholly: the user's own scopes, and the user's own store. */
import type { EndSignal } from "../values/call-ending.ts";
import type { StoreId } from "../values/store-id.ts";
import type { HeldReader, HoldOptions } from "./holding.ts";
import type { HeldStores } from "./shared-stores.ts";
import type { HeldHistory } from "./versions/held-history.ts";

export interface HoldToEraseOptions extends Pick<HoldOptions, "until" | "signal"> {
  /**
   * `look`: changes nothing. `remove`: needs no room on the medium, and leaves unfinished what a crash has left. `read`: as
   * `remove`, but finishes it first, so that the files can be read.
   */
  readonly to: "look" | "remove" | "read";
}

/** Everything of one user, held by whoever erases it. Must not be used after the work has ended. */
export interface HeldToErase {
  /** Reads the user's own scopes. */
  readonly reader: HeldReader;

  /** The history of the user's own scopes. */
  readonly history: HeldHistory;

  /** The user's own store, and no other. */
  readonly stores: HeldStores;

  /** What there is, also what no tool can read. */
  contents(): Promise<ErasableContent[]>;

  /**
   * Takes everything away, all of it or nothing, durably: from then on the user has nothing, and later calls begin anew.
   * Must be the last thing that the work does. What is taken away is removed later, by `ErasedUsers`. `erasedMs`: the
   * time of the erasure, on the clock of grants.
   */
  erase(erasedMs: number): Promise<ErasedUser>;
}

/** How much there is in one place. */
export interface ErasableContent {
  /** A scope of the user's own, or `store:<uuid>`; `null` for what is in none, such as the store's own files. */
  readonly scope: string | null;
  readonly files: number;
  readonly bytes: number;
  /** What could not be opened, and so is not counted. */
  readonly closed: readonly LeftOver[];
}

/** Something that could not be opened or removed. */
export interface LeftOver {
  /** Where, inside the data. Can contain any character. */
  readonly path: string;
  /** Why, as a clause about "it". */
  readonly reason: string;
}

/** A user of whom nothing can be reached any more, but something is left to do. */
export interface ErasedUser {
  /** The id of the own store, by which others know the user. */
  readonly store: StoreId;
  readonly erasedMs: number;
  /** Tells apart several erasures of one user. */
  readonly id: string;
}

/** What is left of erased users. Several can work on it at a time. */
export interface ErasedUsers {
  list(): Promise<ErasedUser[]>;

  /** Removes a user's files for good. Returns what is left of them. Throws the signal's reason when it is aborted. */
  removeFiles(erased: ErasedUser, signal?: EndSignal): Promise<LeftOver[]>;

  /** Forgets the user, if no files are left. To be called when nothing else is left to do. */
  forget(erased: ErasedUser): Promise<void>;
}
