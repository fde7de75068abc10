/**
 * What an engine implements. `Store` is in front of it: it has checked what is asked, calls each operation as this page
 * says, repeats work that was stale, and names scopes as inside a home.
 */
import type { ChangeSet, Seen } from "../values/change-set.ts";
import type { StoreId, UserId } from "../values/ids.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import type { EndSignal } from "../values/turns.ts";
import type { GrantHint } from "./grant-hints.ts";
import type { HomeDump } from "./home-dump.ts";
import type { HoldOptions, Home, Mode, MountHome, RecordKind } from "./home.ts";
import type { FileSum, Files, Handed, KnownSizes, StoreFinding } from "./reading.ts";
import type { HeldHistory, LoweredRun } from "./versions/present-origins.ts";
import type { VersionKind, WriteFacts } from "./versions/version.ts";

export interface Engine {
  /** Folders that stand for scopes of users. */
  readonly mounts: readonly MountHome[];

  /**
   * Runs work on some homes, each named once, in the order of their locks. First finishes what a crash has left, as far as
   * the mode says. Those in `onlyRead` are not locked, in any mode: whoever holds them asks `areReadStill`. Throws
   * `StaleCall` if a home has changed while it was taken, and `BUSY` if others keep one for too long.
   */
  hold<Result>(
    homes: readonly Home[],
    mode: Mode,
    options: EngineHold,
    work: (held: EngineHomes) => Promise<Result>,
  ): Promise<Result>;

  /** The homes to which anything was committed, or into which somebody has put files by hand; in no order. */
  homes(): Promise<FoundHome[]>;

  /** What lies where homes are, and is none. No call reaches it. Default: nothing. */
  strays?(): Promise<StoreFinding[]>;

  /** Stores that have perhaps granted something to a principal, the oldest grants first. Each must be asked. */
  hintsOf(principal: StoreId): Promise<GrantHint[]>;

  /** The principals that leave out stores. Of an engine whose homes can be copied. */
  leaving?(): Promise<StoreId[]>;

  /** What is left of erased users. */
  readonly erased: ErasedUsers;

  /** Finishes what processes have left that have ended. Never rejects; `close` ends it early. Default: they leave nothing. */
  retireLeftOver?(): Promise<void>;

  /** Calls `changed` when another host has changed what is the user's. Returns what ends it. Default: no host tells. */
  watch?(userId: UserId, changed: () => void): () => void;

  /** Ends background work. Nothing is held any more. */
  close(): Promise<void>;
}

export interface EngineHold extends HoldOptions {
  /**
   * With `look` and `read`: writes nothing at all, not even what a crash has left unfinished: if that changes what is
   * read, throws `STORAGE_FAILED`.
   */
  readonly isReadOnly?: boolean;
  /**
   * With `read`: makes the locks that are missing, so that nobody can change the homes meanwhile. Of a medium that cannot be
   * written, throws. A database shows one moment in any case. Default: no.
   */
  readonly makesLocks?: boolean;
}

/** `owner`: of a store, the user whose own store it is, as far as that is on record. Its id can say it, too. */
export type FoundHome =
  | { readonly kind: "user"; readonly id: UserId }
  | { readonly kind: "store"; readonly id: StoreId; readonly owner: UserId | null };

/** The homes of a hold. */
export interface EngineHomes {
  /** Asked once for each home. */
  of(home: Home): EngineHome;

  /** What a thread's readers need not find again meanwhile; `null` if there is nothing. */
  readonly handed: Handed | null;

  /**
   * Whether a commit of several homes makes all parts or none. Then a commit ends the hold of the medium's locks, and another
   * one takes them again.
   */
  readonly isAtomic: boolean;

  /**
   * Whether nobody has changed the homes that are only read. `keeps`: before a commit. A medium that can then keeps others
   * from changing them until it.
   */
  areReadStill(keeps: boolean): boolean | Promise<boolean>;

  /**
   * Makes the changes of each home visible and durable, all of one home or none, one home after the other, and calls `done` for
   * those that are. A medium with transactions makes all homes' in one. Throws `StaleCall` before the first if a file has changed
   * since it was seen. None is empty.
   */
  commit(parts: readonly EngineCommit[], done: (home: Home) => void): Promise<void>;

  /**
   * In mode `write`: puts a whole home where nothing is, all or nothing, durably. Returns `false`, and writes nothing, if
   * something is: then perhaps no piece was taken, or all. `grants`: what the text of a store's grants says, which no engine
   * reads; asked for once all pieces are taken. Default: homes cannot be copied.
   */
  load?(home: Home, dump: HomeDump, grants: () => readonly StoreGrant[]): Promise<boolean>;

  /** In mode `erase`: takes everything away. See `HeldHomes.erase`. */
  erase(erasedMs: number): Promise<ErasedUser>;
}

/** One of them. Scopes are those inside the home. */
export interface EngineHome {
  /** Whether it is one of `homes()`. */
  has(): boolean;
  /** Opens its files. */
  open(): Files;
  readonly history: HeldHistory;
  /** What is still known of the sizes of its scopes. Default: nothing. */
  readonly knownSizes?: KnownSizes;
  /** The bytes of all records of a kind, by name, sorted by name. */
  recordSizes(kind: RecordKind): Promise<ReadonlyMap<string, number>>;
  /** `null` if there is none. */
  readRecord(kind: RecordKind, name: string): Promise<string | null>;
  /** The problems that can be found without parsing the files. Default: none. */
  findings?(): Promise<StoreFinding[]>;
  /** What there is, also what no tool can read, by scope; `null`: in none. In modes `erase` and `look`. Default: its files. */
  contents?(): Promise<ErasableContent[]>;
  /** In mode `read`: all of it; `null` if there is nothing. Default: homes cannot be copied. */
  dump?(): Promise<HomeDump | null>;
}

/**
 * Of a user: what the host keeps, small files in the scope `.memcell` beside the other scopes. Of a store: which ones its
 * owner leaves out, by their names alone. Those must be found by the store's id, because hints say it, so an engine keeps
 * them beside the hints.
 */
export interface StagedRecord {
  readonly kind: RecordKind;
  readonly name: string;
  /** `null` if it is removed. */
  readonly text: string | null;
}

/** What is changed in one home, by the scopes as whoever holds it names them. What is staged in its records is changed with it. */
export interface HomeCommit {
  readonly changes: ChangeSet;
  /** The files that the changes are based on; those of other homes do not count. What was read of grants is added. */
  readonly seen: readonly Seen[];
  /** Who makes the change. Default: the host itself. A store records its owner. */
  readonly by?: UserId | null | undefined;
  /** The sizes that were measured. Default: those that are still known. */
  readonly knownSizes?: KnownSizes | undefined;
  /** What the history says of it. Default: nobody has told anything. */
  readonly facts?: WriteFacts | undefined;
  readonly kind?: VersionKind | undefined;
  /** Of a purge: the files that plugins make from others. What they have said of the purged files goes as well. */
  readonly derived?: DerivedFiles | undefined;
  readonly grants?: NewGrants | undefined;
}

/** The same by the scopes inside the home. The changes are also of the scope `grants`, which has no history. */
export interface EngineCommit extends HomeCommit {
  readonly home: Home;
  readonly by: UserId | null;
  readonly facts: WriteFacts;
  readonly derived: DerivedFiles;
  /** `purged`: files are removed from the trash for good, with what the history keeps of them. Then nothing else is done. */
  readonly kind: VersionKind | undefined;
  readonly records: readonly StagedRecord[];
  /** Runs whose trust has fallen: each is a version of the history. */
  readonly lowered: readonly LoweredRun[];
}

/** By scope, the paths and folders of files that a plugin makes from its other files: see `derivedFiles` of manifests. */
export type DerivedFiles = ReadonlyMap<string, readonly string[]>;

/** All grants of a store. */
export interface NewGrants {
  /** The new text of `grantsPath`, which no engine parses. */
  readonly content: string;
  /** Those of them that are new or changed: `hintsOf` then names the store to their grantees. */
  readonly granted: readonly StoreGrant[];
  /** The own stores of those who are in it no more: `hintsOf` forgets the store for them. Default: none. */
  readonly revoked?: readonly StoreId[];
  /** The time by which other hints of the grantees have ended. */
  readonly nowMs: number;
}

/** How much there is in one place. */
export interface ErasableContent extends FileSum {
  /** `null` for what is in no scope, such as the store's own files. */
  readonly scope: string | null;
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

  /**
   * Forgets all hints to the user and of its store to others, and what is left out of both, but for those of grants that are
   * later than the erasure. `isFinished`: nothing else is left to do, so it forgets the user as well, if no files are left.
   */
  forget(erased: ErasedUser, isFinished: boolean): Promise<void>;
}
