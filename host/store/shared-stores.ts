import type { AccessLevel } from "../../shared/shared-scope.ts";
import type { ChangeSet, Seen } from "../values/change-set.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import type { StoreId } from "../values/store-id.ts";
import type { UserId } from "../values/user-id.ts";
import type { GrantHint } from "./grant-hints.ts";
import type { Handed } from "./handed.ts";
import type { RecordDecision } from "./held-records.ts";
import type { HeldReader, HoldOptions, StoreFinding } from "./holding.ts";
import type { KnownSizes } from "./scope-size.ts";
import type { HeldHistory } from "./versions/held-history.ts";
import type { VersionKind, WriteFacts } from "./versions/version.ts";

/**
 * Keeps stores that have an id of their own and that several principals can reach. Who may reach which is decided
 * outside, on every request; nothing here grants or denies.
 *
 * A store holds entries and grants. A store to which nobody has committed has no folder: it reads as an empty one, and
 * reading it creates nothing.
 */
export interface SharedStores {
  /**
   * Runs a call's work on some stores. First finishes what a crash has left unfinished.
   *
   * With `writes`, no other call changes these stores meanwhile, in this process or another. They are locked in the
   * order of their ids, whatever the order of `ids`. Repeats `work` if a person has changed the files that it read, or
   * if someone else has made one of the stores.
   *
   * Without `writes`, the work sees all stores as they were at one moment, and keeps no writer waiting. Repeats `work`
   * if someone has changed a store meanwhile; the last time, it keeps the writers waiting.
   *
   * Throws `BUSY` if others keep a store for too long.
   */
  hold<Result>(
    ids: readonly StoreId[],
    options: StoreHoldOptions,
    work: (held: HeldStores) => Promise<Result>,
  ): Promise<Result>;

  /** The stores to which anything was committed, or into whose folder someone has put entries by hand; in no order. */
  ids(): Promise<StoreId[]>;

  /**
   * Stores that have perhaps granted something to the principal with this own store, the oldest grants first. Only
   * hints: each must be asked for its grants.
   */
  hintsOf(principal: StoreId): Promise<GrantHint[]>;

  /**
   * Notes that a principal leaves out a store that has granted it something, or does so no more. That stays when the
   * grant is replaced. Returns whether it changed anything.
   */
  leave(principal: StoreId, store: StoreId, isLeft: boolean): Promise<boolean>;

  /**
   * Removes all hints to an erased principal, and of this principal's store to others, but for those of grants that are
   * later than `untilMs`.
   */
  forgetHints(principal: StoreId, untilMs: number): Promise<void>;

  /** The users whose own stores exist, so far as that is on record, in no order. A chat's store counts as a user's. */
  owners(): Promise<UserId[]>;
}

/** For whom stores are held. */
export interface ActingPrincipal {
  /** The own store of the principal. */
  readonly principal: StoreId;
  /** Stores that nobody has granted, for which the program vouches, with the levels. */
  readonly vouched?: readonly { readonly id: StoreId; readonly level: AccessLevel }[];
}

export interface StoreHoldOptions extends Omit<HoldOptions, "scopes" | "records"> {
  /** The user about whose records the work decides: they are held as well, before the stores. Default: none. */
  readonly recordsOf?: UserId | undefined;
  /**
   * Who acts. A store that checks access itself shows nothing else. Default: the host itself, which holds one store at a
   * time and acts as its owner.
   */
  readonly as?: ActingPrincipal;
  /**
   * With `writes`: those of the stores that the work only reads. They are not locked. If someone changes one meanwhile,
   * nothing is committed, and the work is repeated. Default: none.
   */
  readonly onlyRead?: readonly StoreId[];
}

/** Some stores, held by one call. Must not be used after the work has ended. Throws a `RangeError` for other stores. */
export interface HeldStores {
  /** Whether the store is one of `SharedStores.ids()`. */
  has(id: StoreId): boolean;

  /** The host's own reads of a store. Its scopes are `entries` and `grants`; the latter has one file, `grantsPath`. */
  reader(id: StoreId): HeldReader;

  /** What all readers have read of entries so far, with scopes `store:<uuid>`, as `commit` takes it. */
  readonly seen: readonly Seen[];

  /** The history of a store's entries. Their scope is `entries`. */
  history(id: StoreId): HeldHistory;

  /** What is still known of the sizes of the stores' entries, by scope `store:<uuid>`. */
  readonly knownSizes: KnownSizes;

  /** What a thread's readers need not find again while the stores are held; `null` if there is nothing. */
  readonly handed: Handed | null;

  /**
   * Makes changes of a store visible and durable, all of them or none. Makes the store's folder. Throws `QUOTA_EXCEEDED` if
   * a grantee has grants of too many stores.
   */
  commit(id: StoreId, changes: StoreChanges): Promise<void>;

  /**
   * The same of several stores, one after the other; a medium with transactions makes all in one. `done` is called for each
   * that is durable. If one fails after that, those after it are not made either, and the work is not repeated.
   */
  commitEach(parts: readonly ChangesOfStore[], done: (id: StoreId) => void): Promise<void>;

  /** The problems in a store's data that can be found without parsing the files. */
  findings(id: StoreId): Promise<StoreFinding[]>;
}

/** What is changed in one store. */
export type ChangesOfStore = readonly [id: StoreId, changes: StoreChanges];

export interface StoreChanges {
  /** Who makes the changes; `null` for the host itself. A store records its owner. */
  readonly by: UserId | null;
  /** Changes of entries, with the scope `store:<uuid>`. */
  readonly changes: ChangeSet;
  /**
   * The entries that the changes are based on, with scopes `store:<uuid>`; those of other stores do not count. What was
   * read of grants is always added.
   */
  readonly seen: readonly Seen[];
  /** The sizes that were measured, by scope `store:<uuid>`. */
  readonly knownSizes?: KnownSizes;
  /** What the store's history says of the changes. Default: nobody has told anything. */
  readonly facts?: WriteFacts | undefined;
  readonly kind?: VersionKind | undefined;
  /** Of a purge: the paths and folders of entries that a plugin makes from others. */
  readonly derived?: readonly string[] | undefined;
  /** What the commit decides about a record. Only with `StoreHoldOptions.recordsOf`. */
  readonly decision?: RecordDecision | undefined;
  readonly grants?: NewGrants | undefined;
}

/** All grants of a store. */
export interface NewGrants {
  /** The new text of `grantsPath`, which the store never parses. */
  readonly content: string;
  /** Those of them that are new or changed: `hintsOf` then names the store to their grantees. */
  readonly granted: readonly StoreGrant[];
  /** The own stores of those who are in it no more: `hintsOf` forgets the store for them. Default: none. */
  readonly revoked?: readonly StoreId[];
  /** The time by which other hints of the grantees have ended. */
  readonly nowMs: number;
}

/** The scopes inside a store. */
export const entriesScope = "entries";
export const grantsScope = "grants";

/** The only file of the scope `grants`. */
export const grantsPath = "grants.json";
