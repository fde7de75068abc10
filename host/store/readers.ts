/** What threads that run guests read homes by: synchronous, because a guest waits for the answer, and never writing. */
import type { ListedFile } from "../../shared/abi.ts";
import type { Seen } from "../values/change-set.ts";
import type { UserId } from "../values/user-id.ts";
import type { Handed } from "./handed.ts";
import type { KnownSizes, ScopeSize } from "./scope-size.ts";

/** Makes readers in a thread that runs guests. */
export interface StoreReaders {
  /**
   * Opens one user's scopes for one call. Creates nothing. `scopes` are those that the call may use, from one part.
   * `knownSizes` are sizes that need not be measured, and `handed` is what the main thread holds open for the call.
   */
  openUser(userId: UserId, scopes?: readonly string[], known?: KnownOfUser): UserReader;

  /**
   * Opens the shared stores for one call. Creates nothing. The reader's scopes are `store:<uuid>`; it knows no others,
   * and of a store only its entries. A store is opened when it is first read, and is empty if it has no folder. Which
   * stores a call may read is decided outside.
   */
  openShared(known?: Omit<KnownOfUser, "notesSeen">): UserReader;
}

/** What the main thread knows of a user or of stores when a call's guest begins. */
export interface KnownOfUser {
  /** Sizes that need not be measured. */
  readonly knownSizes?: KnownSizes | undefined;
  readonly handed?: Handed | null | undefined;
  /**
   * Whether the reader lists what it has read in `seen`. `contents`: without what the medium shows, which only a commit
   * needs, and which takes as long as a small file. Default: yes.
   */
  readonly notesSeen?: boolean | "contents" | undefined;
}

/** Reads a user's scopes for one call's guest. Can hold folders open until it is disposed of. */
export interface UserReader extends Disposable {
  /** A file's text, or `null`. Throws `ENTRY_UNREADABLE` if its bytes are not UTF-8. */
  read(scope: string, path: string): string | null;

  /** Files whose path begins with `prefix`, sorted by path; those below `trash/` only when the prefix names it. */
  list(scope: string, prefix: string): ListedFile[];

  /** The bytes of the file at a path, or `null` when there is none. */
  sizeOf(scope: string, path: string): number | null;

  /** `isAnew`: measures the scope even if its size is known, but only once. */
  scopeSize(scope: string, isAnew?: boolean): ScopeSize;

  /** The sizes that were given or measured. */
  readonly knownSizes: KnownSizes;

  /** The files that `read` has read so far. */
  readonly seen: readonly Seen[];
}
