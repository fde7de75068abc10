import type { ListedFile } from "../../shared/abi.ts";
import type { ChangeSet } from "../change-set.ts";
import type { UserId } from "../user-id.ts";

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
  /** A view of one user's scopes for one call. Creates nothing. */
  openUser(userId: UserId): UserReader;

  /** Does a call's work while nobody else changes the user's scopes: from before the guest reads until after commit. */
  holdUser<Result>(userId: UserId, work: (held: HeldUser) => Promise<Result>): Promise<Result>;
}

/** A user's scopes in the hands of one call. */
export interface HeldUser {
  /** Makes a change set visible, in order. Creates the user's folder when there is none. */
  commit(changes: ChangeSet): Promise<void>;
}

export interface UserReader {
  /** A file's text, or `null`. Throws `ENTRY_UNREADABLE` when its bytes are no UTF-8. */
  read(scope: string, path: string): string | null;

  /** Files whose path begins with `prefix`, sorted by path; those below `trash/` only when the prefix names it. */
  list(scope: string, prefix: string): ListedFile[];

  /** The bytes of the file at a path, or `null` when there is none. */
  sizeOf(scope: string, path: string): number | null;

  /** The bytes of all files of a scope, trash included. */
  bytesUsed(scope: string): number;
}

/** Which store to open, as plain data that reaches workers. */
export interface StoreLocation {
  readonly kind: "files";
  readonly dataDir: string;
}
