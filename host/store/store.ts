import type { MessagePort } from "node:worker_threads";

import type { ListedFile } from "../../shared/abi.ts";
import type { ManifestTool } from "../../shared/manifest.ts";
import type { ChangeSet, Seen } from "../values/change-set.ts";
import type { UserId } from "../values/user-id.ts";
import type { CommitFacts } from "./commit-facts.ts";
import type { ErasedUsers, HoldToEraseOptions, HeldToErase } from "./erasing.ts";
import type { Handed } from "./handed.ts";
import type { HeldRecords } from "./held-records.ts";
import type { HeldReader, HoldOptions, StoreFinding } from "./holding.ts";
import type { KnownSizes, ScopeSize } from "./scope-size.ts";
import type { HeldStores, SharedStores } from "./shared-stores.ts";
import type { StoreSettings } from "./store-settings.ts";
import type { HeldHistory } from "./versions/held-history.ts";

export type { CommitFacts, DerivedFiles } from "./commit-facts.ts";
export type { HeldReader, HoldOptions, ScopeSurvey, StoreFinding, UnfitFile } from "./holding.ts";
export type { KnownSizes, ScopeSize } from "./scope-size.ts";

/**
 * Keeps users' memory. Nothing outside `host/store/` knows how.
 *
 * Readers run in worker threads, which can be killed at any instant. So they only read. They are synchronous, because a
 * guest waits for the answer. The store itself runs in the main thread and is asynchronous.
 *
 * `shared/path.ts` defines scopes and paths. Each implementation checks them again and throws `CAPABILITY_DENIED` for
 * invalid ones. Store and readers throw `ToolError` with `STORAGE_UNSAFE`, `STORAGE_FULL`, `STORAGE_BUSY` or
 * `STORAGE_FAILED` if the medium fails or holds something unsafe, such as a link.
 */
export interface Store {
  /**
   * Runs a call's work while no other call, in this process or another, changes the scopes: from before the guest reads
   * until after the commit. First finishes what a crash has left unfinished. Repeats `work` if a person has changed the
   * files that it read.
   *
   * Throws `BUSY` if another process keeps the user for too long.
   */
  hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result>;

  /** Holds what the host keeps about a user beside the scopes, as `hold` does without scopes. */
  holdRecords<Result>(
    userId: UserId,
    options: Omit<HoldOptions, "scopes" | "records">,
    work: (records: HeldRecords) => Promise<Result>,
  ): Promise<Result>;

  /** The users who have stored anything, in no order. */
  users(): Promise<UserId[]>;

  /** What lies where users' data is, and is no user's. No call reaches it. */
  strays(): Promise<StoreFinding[]>;

  /**
   * The user's scopes, grouped by what is held and committed together. The first part names no scopes: it has every
   * scope that no other part names. A call never has scopes from two parts.
   */
  parts(userId: UserId): Promise<readonly StorePart[]>;

  /** Whether a user's scopes are in a part of their own, such as a mounted folder. The call's audit record says so. */
  isApart(userId: string | null, scopes: readonly string[]): boolean;

  /** Stores that are no user's folder. */
  readonly shared: SharedStores;

  /**
   * Holds everything of a user, so that it can be erased: the user's folder and own store, without mounted folders. Throws
   * `BUSY` if others keep it for too long, and `STORAGE_UNSAFE` if the folder is another user's.
   */
  holdToErase<Result>(
    userId: UserId,
    options: HoldToEraseOptions,
    work: (held: HeldToErase) => Promise<Result>,
  ): Promise<Result>;

  /** What is left of erased users. */
  readonly erased: ErasedUsers;

  /**
   * Finishes and retires what processes have left that have ended, one user after the other. Never rejects; `close` ends
   * it early.
   */
  retireLeftOver(): Promise<void>;

  /** Calls `changed` when another host that the store hears of has changed what is the user's. Returns what ends it. */
  watch(userId: UserId, changed: () => void): () => void;

  /** Ends background work. No user may be held any more. */
  close(): Promise<void>;
}

/** Scopes that share one lock, one recovery and one list of findings. */
export interface StorePart {
  /** Empty for the part that has every scope no other part names. */
  readonly scopes: readonly string[];
}

/** A user's scopes, held by one call. Must not be used after the work has ended. */
export interface HeldUser {
  readonly reader: HeldReader;

  /** What the store still knows of the sizes of the user's scopes. */
  readonly knownSizes: KnownSizes;

  /** What a thread's readers need not find again while the user is held; `null` if there is nothing. */
  readonly handed: Handed | null;

  /**
   * Makes a change set visible and durable, all of it or nothing. Creates the user's folder if there is none. `seen`
   * lists the files that the change set is based on.
   */
  commit(changes: ChangeSet, seen: readonly Seen[], more?: CommitFacts): Promise<void>;

  /** The versions of the user's files. */
  readonly history: HeldHistory;

  /** Set if the scopes are the user's own store: it, as calls hold it. */
  readonly stores?: HeldStores;

  /** The problems in the user's data that can be found without parsing the files. */
  findings(): Promise<StoreFinding[]>;
}

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

/** Plain data from which a thread makes its readers. `open-readers.ts` knows every kind. */
export type StoreLocation = FilesLocation | { readonly kind: "memory" | "postgres" };

export interface FilesLocation {
  readonly kind: "files";
  /** An absolute path. */
  readonly dir: string;
  readonly mounts: readonly MountLocation[];
}

/** A folder that stands for one scope of one user. */
export interface MountLocation {
  readonly userId: UserId;
  readonly scope: string;
  /** An absolute path with all links resolved. */
  readonly dir: string;
}

/**
 * Reports to the operator what was found and repaired. Can name paths inside the data. `owner` is a user's id, or
 * `stores/<uuid>` for a shared store.
 */
export type NoteOfUser = (owner: string, text: string) => void;

/**
 * A store for `createRuntime`, as `fileStore` and `memoryStore` return it. Nothing is opened before the runtime opens
 * it. Its members are the runtime's and can change without notice.
 */
export interface StoreDefinition {
  readonly location: StoreLocation;

  /** Throws a `ToolError` if the medium is not fit for a host, before the store is opened. Default: it is. */
  readonly checkMedium?: () => Promise<void>;

  /** Opens the store in the main thread. Throws if the medium cannot be used. Default: `defaultSettings`. */
  open(note: NoteOfUser, settings?: StoreSettings): Store;

  /** Answers the questions of a thread's readers; `null` for a store that threads read directly. */
  readonly answerReads: ((bridge: ReadBridge) => void) | null;

  /**
   * Throws `PLUGIN_REFUSED` for a tool whose scopes are in two parts, or for a part's scope that no tool has. Then
   * `hintFor` says what the program can do about the scope.
   */
  checkTools(
    tools: readonly Pick<ManifestTool, "name" | "scopes">[],
    hintFor: (scope: string) => string | undefined,
  ): void;

  /** Throws a `RangeError` if the audit log would be where tools write. */
  checkLogFile(file: string): void;

  /** Whether a path is inside the users' data. */
  readonly holdsFile: (file: string) => boolean;
}

/**
 * Lets a thread ask the main thread to read for it, and wait. One per thread, because a thread asks one question at a
 * time.
 */
export interface ReadBridge {
  /** Questions go in, answers come out. */
  readonly port: MessagePort;
  /** Four bytes that change from 0 to 1 when the answer has arrived at the thread's port. */
  readonly signal: SharedArrayBuffer;
}
