/**
 * A home is a place that is held, read, committed, kept in history, erased and copied. What differs between the kinds is
 * data: who may reach it, which scopes it has, where it lies.
 */
import { ownStoreName, storePrefix } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import { ownStoreOf, scopeOfStore } from "../values/ids.ts";
import type { StoreId, UserId } from "../values/ids.ts";
import type { EndSignal } from "../values/turns.ts";
import { noSuchScope } from "./reading.ts";

export type Home = UserHome | MountHome | StoreHome;

/** A user's folder. It has every scope that no mount of the user has, and what the host keeps about the user. */
export interface UserHome {
  readonly kind: "user";
  readonly id: UserId;
}

/** A folder that stands for one scope of a user. */
export interface MountHome {
  readonly kind: "mount";
  readonly id: UserId;
  readonly scope: string;
}

/** A store that several principals can reach. It has entries and grants. Without a commit it reads as an empty one. */
export interface StoreHome {
  readonly kind: "store";
  readonly id: StoreId;
  /** What whoever holds it calls the scope of its entries. */
  readonly scope: string;
}

export const userHome = (id: UserId): UserHome => ({ kind: "user", id });

/** A store, with its entries in the scope `store:<uuid>`. */
export const storeHome = (id: StoreId): StoreHome => ({ kind: "store", id, scope: scopeOfStore(id) });

/** A user's own store, with its entries in the scope `store`, as the host lists it beside the user's scopes. */
export const ownStoreHome = (userId: UserId): StoreHome => ({
  kind: "store",
  id: ownStoreOf(userId),
  scope: ownStoreName,
});

/** The same for two names of one home. */
export const keyOf = (home: Home): string =>
  home.kind === "mount" ? `mount:${home.id}:${home.scope}` : `${home.kind}:${home.id}`;

/** The order in which homes are locked, so that no two calls wait for each other. */
const lockOrder = ["user", "mount", "store"];

/** Each home once, in the order in which they are locked. */
export function inLockOrder(homes: readonly Home[]): readonly Home[] {
  if (homes.length < 2) return homes;
  const each = [...new Map(homes.map((home) => [keyOf(home), home])).entries()];
  const rank = ([key, { kind }]: readonly [string, Home]): string => `${lockOrder.indexOf(kind)}${key}`;
  return each.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).map(([, home]) => home);
}

/**
 * How homes are held.
 *
 * - `look`: nobody changes them meanwhile. What a crash has left is not finished. No commit.
 * - `read`: the work sees all of them as they are at one moment. Of stores, no writer is kept waiting. No commit.
 * - `write`: no other call changes them meanwhile, in this process or another. Homes in `onlyRead` are not locked.
 * - `thorough`: as `write`, but ignores what is remembered about them, and checks it again.
 * - `erase`: as `write`, of a user's home and own store, also if they cannot be read. What a crash has left is finished
 *   only with `finishes`, which needs room on the medium.
 */
export type Mode = "look" | "read" | "write" | "thorough" | "erase";

/** Whether work in this mode may commit. */
export const commits = (mode: Mode): boolean => mode === "write" || mode === "thorough";

export interface HoldOptions {
  /** When to give up waiting for others, on the clock of `performance.now()`. */
  readonly until: number;
  /** Ends the wait for others; its reason is thrown. It does not end a commit. */
  readonly signal?: EndSignal | undefined;
  /** The scopes that the work uses of a user's home: an engine can load others later. Default: any. */
  readonly scopes?: readonly string[] | undefined;
  /**
   * Who acts on stores. A store that checks access itself shows nothing else. Default: the host itself, which acts as the
   * owner of the first store.
   */
  readonly as?: ActingPrincipal | undefined;
  /**
   * With `write`: those of the homes that the work only reads. They are not locked. If someone changes one meanwhile,
   * nothing is committed, and the work is repeated. Default: none.
   */
  readonly onlyRead?: readonly Home[] | undefined;
  /**
   * Homes that are held for what the host keeps about the user, beside those that the work is about: a medium that cannot be
   * written will do for them, but not for a commit. Default: none.
   */
  readonly besides?: readonly Home[] | undefined;
  /** With `erase`: see `Mode`. Default: no. */
  readonly finishes?: boolean | undefined;
}

/** For whom stores are held. */
export interface ActingPrincipal {
  /** The own store of the principal. */
  readonly principal: StoreId;
  /** Stores that nobody has granted, for which the program vouches, with the levels. */
  readonly vouched?: readonly { readonly id: StoreId; readonly level: AccessLevel }[];
}

/** The scopes inside a store. */
export const entriesScope = "entries";
export const grantsScope = "grants";

/** The only file of the scope `grants`. */
export const grantsPath = "grants.json";

/**
 * The scope of a user's home that has what the host keeps about the user. It is no scope's name, so no guest can name it,
 * and no list, search, export or history has it.
 */
export const hostScope = ".memcell";

/** The kinds of records that the host keeps about a user: writes that wait, and what runs have read. */
export const recordKinds = ["pending", "runs"] as const;

/** `left`: of an own store, the stores that its owner leaves out. A record's name is a store's id, and it has no text. */
export type RecordKind = (typeof recordKinds)[number] | "left";

/** A file of the scope `.memcell`. */
export const recordPath = (kind: RecordKind, name: string): string => `${kind}/${name}.json`;

const recordPattern = /^(pending|runs|left)\/([a-z0-9-]{1,64})\.json$/;

/** The record that a path of the scope `.memcell` names; `null` if it names none. */
export function recordAt(path: string): { readonly kind: RecordKind; readonly name: string } | null {
  const [, kind, name] = recordPattern.exec(path) ?? [];
  return kind === undefined || name === undefined ? null : { kind: kind as RecordKind, name };
}

/** Whether files of a scope are a user's or a store's own, and so in its history, and not the host's. */
export const isOfEntries = (kind: Home["kind"], scope: string): boolean =>
  kind === "store" ? scope === entriesScope : scope !== hostScope;

/** The scope inside a home; `null` if the home does not have it. What the host keeps changes only by its records. */
export function scopeIn(home: Home, scope: string): string | null {
  // Calls name each store by its id, also the user's own.
  if (home.kind === "store") return scope === home.scope || scope === scopeOfStore(home.id) ? entriesScope : null;
  const isOwn = home.kind === "mount" ? scope === home.scope : !scope.startsWith(storePrefix);
  return isOwn && scope !== hostScope ? scope : null;
}

/** The same. Throws `CAPABILITY_DENIED` for a scope that no home has. */
export function innerScope(home: Home, scope: string): string {
  const inner = scopeIn(home, scope);
  if (inner !== null) return inner;
  const isOther = home.kind === "store" ? scope.startsWith(storePrefix) : home.kind === "mount" && scope !== hostScope;
  throw isOther ? new RangeError("The scope is in another home") : noSuchScope(scope);
}

/** What whoever holds a home calls a scope inside it; `null` if that is none for entries. */
export const outerScope = (home: Home, inner: string): string | null =>
  home.kind !== "store" ? inner : inner === entriesScope ? home.scope : null;

/** What has a scope of a home as calls name it: by its id a user's own store, which the host lists beside the user's scopes. */
export function namedByCalls<Placed extends { readonly scope: string }>(
  home: Home,
  placed: readonly Placed[],
): readonly Placed[] {
  if (home.kind !== "store") return placed;
  const scope = scopeOfStore(home.id);
  return placed.map((each) => (each.scope === ownStoreName ? { ...each, scope } : each));
}

/** What is told by scope, under other names; without what has none. */
export const namedIn = <Told>(
  told: Iterable<readonly [scope: string, Told]>,
  nameOf: (scope: string) => string | null,
): [string, Told][] =>
  Array.from(told).flatMap(([scope, each]): [string, Told][] => {
    const name = nameOf(scope);
    return name === null ? [] : [[name, each]];
  });

/** Paths as whoever holds the home sees them. Of what lies in no scope of a store, the path in the data folder. */
export function shownIn<Placed extends { readonly path: string }>(home: Home, found: readonly Placed[]): Placed[] {
  if (home.kind !== "store") return [...found];
  return found.map((each) => {
    const [folder, ...below] = each.path.split("/");
    const path = folder === entriesScope ? [home.scope, ...below].join("/") : `stores/${home.id}/${each.path}`;
    return Object.assign({}, each, { path });
  });
}
