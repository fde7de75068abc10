import type { MessagePort } from "node:worker_threads";

import type { ListedFile } from "../../shared/abi.ts";
import type { ManifestTool } from "../../shared/manifest.ts";
import type { ChangeSet, Seen } from "../values/change-set.ts";
import type { UserId } from "../values/user-id.ts";

/**
 * Where users' memory is kept. Nothing outside `host/store/` knows how.
 *
 * Readers live in threads that may be killed at any instant, so they only read, and synchronously, because a guest waits
 * for the answer. The store itself lives in the main thread, which nobody kills, and is asynchronous.
 *
 * Scopes and paths are as `shared/path.ts` says; an implementation checks them again and throws
 * `CAPABILITY_DENIED` otherwise. Both sides throw `ToolError` with `STORAGE_UNSAFE`, `STORAGE_FULL` or
 * `STORAGE_FAILED` for what the medium does to them.
 */
export interface Store {
  /**
   * Does a call's work while nobody else changes the scopes, in this process or another: from before the guest reads until
   * after commit. What a crash has left unfinished is finished first. `work` is done again when a person has changed the
   * files that it read.
   *
   * Throws `BUSY` when another process keeps the user for too long.
   */
  hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result>;

  /** The users of whom anything is kept, in no order. */
  users(): Promise<UserId[]>;

  /**
   * The user's scopes by what is held and committed as one. The first part names none: it has all scopes that no other part
   * names. A call never has scopes of two parts.
   */
  parts(userId: UserId): Promise<readonly StorePart[]>;

  /** Whether a user's scopes lie in a part of their own, such as a mounted folder: a record of the call tells it. */
  isApart(userId: string | null, scopes: readonly string[]): boolean;

  /** Ends what goes on in the background. Nothing may be held any more. */
  close(): Promise<void>;
}

/** Scopes that have a lock, findings and crashes in common. */
export interface StorePart {
  /** Empty for the part that has all scopes which no other names. */
  readonly scopes: readonly string[];
}

export interface HoldOptions {
  /** What the work may name: scopes of one part. Default: those of the first. */
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

/** Something that should not be among what a user keeps, or is unfinished there, told by the store that found it. */
export interface StoreFinding {
  /** What is wrong, in words with hyphens. Only the store knows what there is; nobody else tells one from another. */
  readonly code: string;
  /** Where, inside what the user keeps. */
  readonly path: string;
  /** What is wrong, as a clause about "it". */
  readonly message: string;
  /** What a call that writes does about it by itself; `null` when only a person can help. */
  readonly remedy: string | null;
}

/** A user's scopes in the hands of one call. Nothing of it may be used when the work has ended. */
export interface HeldUser {
  readonly reader: HeldReader;

  /**
   * Makes a change set visible and durable, all of it or nothing. Creates the user's folder when there is none. `seen`
   * is what the change set was made from.
   */
  commit(changes: ChangeSet, seen: readonly Seen[]): Promise<void>;

  /** What is wrong with what the user keeps, as far as it can be told without knowing what the files mean. */
  findings(): Promise<StoreFinding[]>;
}

/** What the host itself reads of a user, while it holds the user. As the methods of `UserReader`. */
export interface HeldReader {
  scopes(): Promise<string[]>;
  list(scope: string, prefix: string): Promise<ListedFile[]>;
  survey(scope: string): Promise<ScopeSurvey>;
  bytesUsed(scope: string): Promise<number>;
  bytesOf(scope: string, path: string): Promise<Uint8Array | null>;
  /** What `bytesOf` has found so far. */
  readonly seen: readonly Seen[];
}

/** Makes readers in a thread that runs guests. */
export interface StoreReaders {
  /** A view of one user's scopes for one call. Creates nothing. `scopes` is what the call may name, of one part. */
  openUser(userId: UserId, scopes?: readonly string[]): UserReader;
}

/** A user's scopes as one call's guest reads them. It may hold folders open until it is disposed of. */
export interface UserReader extends Disposable {
  /** A file's text, or `null`. Throws `ENTRY_UNREADABLE` when its bytes are no UTF-8. */
  read(scope: string, path: string): string | null;

  /** Files whose path begins with `prefix`, sorted by path; those below `trash/` only when the prefix names it. */
  list(scope: string, prefix: string): ListedFile[];

  /** The bytes of the file at a path, or `null` when there is none. */
  sizeOf(scope: string, path: string): number | null;

  /** The bytes of all files of a scope, trash included. */
  bytesUsed(scope: string): number;

  /** What `read` has found so far. */
  readonly seen: readonly Seen[];
}

/** Everything in a scope, trash included, and what there a read would refuse. */
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

/** What a thread makes its readers from: plain data. `open-readers.ts` knows every kind. */
export type StoreLocation = FilesLocation | { readonly kind: "memory" };

export interface FilesLocation {
  readonly kind: "files";
  /** Resolved. */
  readonly dir: string;
  readonly mounts: readonly MountLocation[];
}

/** A folder that stands for one scope of one user. */
export interface MountLocation {
  readonly userId: UserId;
  readonly scope: string;
  /** Resolved: nothing that leads there is a link. */
  readonly dir: string;
}

/** Tells the operator what was found and mended. It may name paths inside what a user keeps. */
export type NoteOfUser = (userId: UserId, text: string) => void;

/**
 * A store as a program names it to `createRuntime`: what `fileStore` or `memoryStore` returns. Nothing is opened before the
 * runtime opens it. Its members are the runtime's, and may change without notice.
 */
export interface StoreDefinition {
  /** What threads make their readers from. */
  readonly location: StoreLocation;

  /** Opens the main side. What refuses the medium throws. */
  open(note: NoteOfUser): Store;

  /** Answers what a thread's readers ask; `null` for a store that threads read by themselves. */
  readonly answerReads: ((bridge: ReadBridge) => void) | null;

  /** Throws `PLUGIN_REFUSED` for a tool whose scopes lie in two parts: no change set is ever made in two. */
  checkTools(tools: readonly Pick<ManifestTool, "name" | "scopes">[]): void;

  /** Throws a `RangeError` for an audit log that would lie where tools write. */
  checkLogFile(file: string): void;

  /** Whether a file would lie among what users keep. */
  readonly holdsFile: (file: string) => boolean;
}

/** How a thread asks the main side to read for it, and waits. One for each thread, as its questions come one by one. */
export interface ReadBridge {
  /** Questions go in, answers come out. */
  readonly port: MessagePort;
  /** Four bytes that turn from 0 to 1 when the answer lies at the thread's end of the port. */
  readonly signal: SharedArrayBuffer;
}
