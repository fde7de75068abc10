/**
 * What an engine implements. `Store` is in front of it: it has checked what is asked, calls each operation as this page
 * says, repeats work that was stale, and names scopes as inside a home.
 */
import type { EndSignal } from "../values/call-ending.ts";
import type { Change, Seen } from "../values/change-set.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import type { StoreId } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";
import type { GrantHint } from "./grant-hints.ts";
import type { Handed } from "./handed.ts";
import type { DirectFiles } from "./held-reads.ts";
import type { StoreFinding } from "./holding.ts";
import type { Home, HoldOptions, MountHome, Mode, RecordKind } from "./home.ts";
import type { KnownSizes } from "./scope-size.ts";
import type { HeldHistory } from "./versions/held-history.ts";
import type { LoweredRun } from "./versions/lowered-runs.ts";
import type { VersionKind, WriteFacts } from "./versions/version.ts";

export interface Engine {
  /** Folders that stand for scopes of users. */
  readonly mounts: readonly MountHome[];

  /**
   * Runs work on some homes, each named once, in the order of their locks. First finishes what a crash has left, as far as
   * the mode says. Throws `StaleCall` if what the work read has changed. Throws `BUSY` if others keep a home for too long.
   */
  hold<Result>(
    homes: readonly Home[],
    mode: Mode,
    options: EngineHold,
    work: (held: EngineHomes) => Promise<Result>,
  ): Promise<Result>;

  /** The homes to which anything was committed, or into which somebody has put files by hand; in no order. */
  homes(): Promise<FoundHome[]>;

  /** What lies where homes are, and is none. No call reaches it. */
  strays(): Promise<StoreFinding[]>;

  /** Stores that have perhaps granted something to a principal, the oldest grants first. Each must be asked. */
  hintsOf(principal: StoreId): Promise<GrantHint[]>;

  /** See `Store.leave`. */
  leave(principal: StoreId, store: StoreId, isLeft: boolean): Promise<boolean>;

  /** See `Store.forgetHints`. */
  forgetHints(principal: StoreId, untilMs: number): Promise<void>;

  /** What is left of erased users. */
  readonly erased: ErasedUsers;

  /** Finishes what processes have left that have ended. Never rejects; `close` ends it early. */
  retireLeftOver(): Promise<void>;

  /** Calls `changed` when another host has changed what is the user's, if the engine hears of it. Returns what ends it. */
  watch(userId: UserId, changed: () => void): () => void;

  /** Ends background work. Nothing is held any more. */
  close(): Promise<void>;
}

export interface EngineHold extends HoldOptions {
  /**
   * With `look` and `read`: writes nothing at all, not even what a crash has left unfinished: if that changes what is
   * read, throws `STORAGE_FAILED`.
   */
  readonly isReadOnly?: boolean;
}

/** `owner`: of a store, the user whose own store it is, as far as that is on record. */
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

  /** Whether nobody has changed the homes that are only read. */
  areReadStill(): boolean | Promise<boolean>;

  /**
   * Makes the changes of each home visible and durable, all of one home or none, one home after the other, and calls `done` for
   * those that are. A medium with transactions makes all homes' in one. Throws `StaleCall` before the first if a file has changed
   * since it was seen. None is empty.
   */
  commit(parts: readonly EngineCommit[], done: (home: Home) => void): Promise<void>;

  /** In mode `erase`: takes everything away. See `HeldHomes.erase`. */
  erase(erasedMs: number): Promise<ErasedUser>;
}

/** One of them. Scopes are those inside the home. */
export interface EngineHome {
  /** Whether it is one of `homes()`. */
  has(): boolean;
  /** Opens its files. */
  open(): DirectFiles;
  readonly history: HeldHistory;
  /** What is still known of the sizes of its scopes. */
  readonly knownSizes: KnownSizes;
  /** Of a user: what the host keeps. */
  readonly records: EngineRecords;
  /** The problems that can be found without parsing the files. */
  findings(): Promise<StoreFinding[]>;
  /** What there is, also what no tool can read, by scope; `null`: in none. In modes `erase` and `look`. */
  contents(): Promise<ErasableContent[]>;
}

/** Small files in the scope `.memcell`, beside the other scopes. */
export interface EngineRecords {
  /** The bytes of all records of a kind, by name, sorted by name. */
  sizes(kind: RecordKind): Promise<ReadonlyMap<string, number>>;
  /** `null` if there is none. */
  read(kind: RecordKind, name: string): Promise<string | null>;
}

/** What is changed in one home. */
export interface EngineCommit {
  readonly home: Home;
  /** Who makes the change; `null` for the host itself. A store records its owner. */
  readonly by: UserId | null;
  /** Also of the scopes `grants` and `.memcell`, which have no history. */
  readonly changes: readonly Change[];
  readonly seen: readonly Seen[];
  readonly facts: WriteFacts;
  readonly kind?: VersionKind | undefined;
  /** Whether files are removed from the trash for good, with what the history keeps of them. Then nothing else is done. */
  readonly isPurge: boolean;
  /** Of a purge: by scope, the files that plugins make from others. What they have said of the purged files goes as well. */
  readonly derived: DerivedFiles;
  /** The sizes that were measured. Default: those that are still known. */
  readonly knownSizes?: KnownSizes | undefined;
  /** Runs whose trust has fallen: each is a version of the history. */
  readonly lowered: readonly LoweredRun[];
  readonly grants?: NewGrants | undefined;
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
export interface ErasableContent {
  /** `null` for what is in no scope, such as the store's own files. */
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

/** An engine that writes nothing, whatever it is asked for. What would write is `READ_ONLY`. */
export function readOnlyEngine(engine: Engine): Engine {
  return {
    mounts: engine.mounts,
    hold: async (homes, mode, options, work) => {
      if (mode !== "look" && mode !== "read") throw refused();
      return await engine.hold(homes, mode, { ...options, isReadOnly: true }, work);
    },
    homes: () => engine.homes(),
    strays: () => engine.strays(),
    hintsOf: (principal) => engine.hintsOf(principal),
    leave: refuse,
    forgetHints: refuse,
    erased: { list: () => engine.erased.list(), removeFiles: refuse, forget: refuse },
    retireLeftOver: async () => {
      // It is left to a runtime that may write.
    },
    watch: (userId, changed) => engine.watch(userId, changed),
    close: () => engine.close(),
  };
}

const refuse = (): Promise<never> => Promise.reject(refused());

const refused = (): ToolError => new ToolError("READ_ONLY", "Cannot change anything: the runtime is read-only");
