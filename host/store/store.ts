import type { ListedFile } from "../../shared/abi.ts";
import type { ChangeSet, Seen } from "../values/change-set.ts";
import type { UserId } from "../values/user-id.ts";

/**
 * Where users' memory is kept. Files are the first implementation; nothing outside `host/store/` knows that there are
 * files.
 *
 * Readers live in workers that may be killed at any instant, so they only read, and synchronously, because a guest
 * waits for the answer. `holdUser` lives on the side that nobody kills.
 *
 * Scopes and paths are as `shared/path.ts` says; an implementation checks them again and throws
 * `CAPABILITY_DENIED` otherwise. Both sides throw `ToolError` with `STORAGE_UNSAFE`, `STORAGE_FULL` or
 * `STORAGE_FAILED` for what the medium does to them.
 */
export interface Store {
  /**
   * A view of one user's scopes for one call. Creates nothing. `scopes` is what the call may name: a scope that is mounted
   * for the user lies elsewhere than the others, and is asked for alone. Default: none of those.
   */
  openUser(userId: UserId, scopes?: readonly string[]): UserReader;

  /**
   * Does a call's work while nobody else changes the user's scopes, in this process or another: from before the guest
   * reads until after commit. What a crash has left unfinished is finished first. `work` is done again when a person
   * has changed the files that it read.
   *
   * Throws `BUSY` when another process keeps the user for too long.
   */
  holdUser<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result>;

  /** The users who have a folder, in no order. */
  users(): UserId[];

  /** The user's scopes that are mounted: each has findings, a lock and crashes of its own. */
  mountedScopes(userId: UserId): readonly string[];

  /** Ends what goes on in the background. Nothing may be held any more. */
  close(): Promise<void>;
}

export interface HoldOptions {
  /** As in `openUser`. */
  readonly scopes?: readonly string[];
  /** Whether the work may end in a commit. Without, a medium that cannot be written to will do. */
  readonly writes: boolean;
  /** When to give up waiting for another process, on the clock of `performance.now()`. */
  readonly until: number;
  /** Ends the wait for another process; its reason is thrown. It does not end a commit. */
  readonly signal?: AbortSignal | undefined;
  /** Leaves what a crash has left as it is, so that it can be looked at. Nothing can be committed. */
  readonly isLookingOnly?: boolean;
  /** Takes nothing for granted that is remembered of the user. */
  readonly isThorough?: boolean;
}

/** What a store can find wrong without knowing what the files mean. */
export type StoreProblem =
  | "journal-unfinished"
  | "journal-damaged"
  | "temporary-file"
  | "owner-missing"
  | "not-a-plain-file";

export interface StoreFinding {
  readonly problem: StoreProblem;
  /** Inside the user's folder. */
  readonly path: string;
  readonly message: string;
  /** What a call that writes does about it by itself; `null` when only a person can help. */
  readonly remedy: string | null;
}

/** A user's scopes in the hands of one call. */
export interface HeldUser {
  /**
   * Makes a change set visible and durable, all of it or nothing. Creates the user's folder when there is none. `seen`
   * is what the change set was made from.
   */
  commit(changes: ChangeSet, seen: readonly Seen[]): Promise<void>;

  /** What should not be in the user's folder, or is unfinished there. */
  findings(): StoreFinding[];
}

/** A user's scopes as one call reads them. It may hold folders open until it is disposed of. */
export interface UserReader extends Disposable {
  /** The scopes that the user has folders of where the reader looks, sorted. */
  scopes(): string[];

  /** A file's text, or `null`. Throws `ENTRY_UNREADABLE` when its bytes are no UTF-8. */
  read(scope: string, path: string): string | null;

  /** Files whose path begins with `prefix`, sorted by path; those below `trash/` only when the prefix names it. */
  list(scope: string, prefix: string): ListedFile[];

  /** The bytes of the file at a path, or `null` when there is none. */
  sizeOf(scope: string, path: string): number | null;

  /** The bytes of all files of a scope, trash included. */
  bytesUsed(scope: string): number;

  /** Everything in a scope, trash included, and what there a read would refuse. Throws `QUOTA_EXCEEDED` when it is too much. */
  survey(scope: string): ScopeSurvey;

  /** A file's bytes, text or not; `null` when there is none. The host's own: no guest is given bytes. */
  bytesOf(scope: string, path: string): Uint8Array | null;

  /** What `read` and `bytesOf` have found so far. */
  readonly seen: readonly Seen[];
}

export interface ScopeSurvey {
  /** Sorted by path. */
  readonly files: readonly ListedFile[];
  /** What no tool could read, by the names that the medium gives, which may hold any character. */
  readonly unfit: readonly UnfitFile[];
}

export interface UnfitFile {
  /** Inside the scope. */
  readonly path: string;
  /** Why, as a clause about "it". */
  readonly reason: string;
}

/** Which store to open, as plain data that reaches workers. */
export interface StoreLocation {
  readonly kind: "files";
  readonly dataDir: string;
  readonly mounts?: readonly MountLocation[];
}

/** A folder that stands for one scope of one user. */
export interface MountLocation {
  readonly userId: UserId;
  readonly scope: string;
  /** Resolved: nothing that leads there is a link. */
  readonly dir: string;
}

export interface StoreOptions {
  /** `full`: a commit is on the disk when it is acknowledged. `relaxed`: it may be lost when the machine stops. */
  readonly durability: "full" | "relaxed";
  /** Tells the operator what was found and mended. It may name paths inside a user's folder. */
  readonly note: (userId: UserId, text: string) => void;
}
