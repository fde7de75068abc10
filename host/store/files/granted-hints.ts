/**
 * Hints to principals, as empty files `stores/.granted/<principal>/<hint>`: outside the principals' own stores, so that a
 * grant to anybody makes no store. A principal's folder goes with its last hint.
 */
import { setImmediate } from "node:timers/promises";

import type { Directory } from "../../disk/directory.ts";
import { isMissing, systemCode } from "../../disk/disk-failure.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import type { StoreId } from "../../values/ids.ts";
import { isStoreId } from "../../values/ids.ts";
import type { StoreGrant } from "../../values/store-grant.ts";
import { checkRoom, isLive, byAge } from "../grant-hints.ts";
import type { GrantHint, GrantTimes } from "../grant-hints.ts";
import { grantedFolder, storesFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { HomeFolder, openPlace } from "./scope-folders.ts";

/** Folders that are looked at before other work gets a turn. */
const foldersAtOnce = 64;

export class GrantedHints {
  readonly #root: DataRoot;
  readonly #isFlushed: boolean;

  constructor(root: DataRoot, isFlushed: boolean) {
    this.#root = root;
    this.#isFlushed = isFlushed;
  }

  list(principal: StoreId): GrantHint[] {
    using folder = this.#open(principal);
    return folder === null ? [] : readHintNames(namesIn(folder.home));
  }

  /** Hints to a grant's grantee, and removes the hints of its ended grants. Throws `QUOTA_EXCEEDED`. */
  async add(store: StoreId, grant: StoreGrant, nowMs: number): Promise<void> {
    await this.#inFolder(grant.grantee, (own) => {
      const names = namesIn(own);
      checkRoom(readHintNames(names), store, nowMs);
      for (const name of names) if (hasEnded(name, nowMs)) removeIfThere(own, name);
      createIfMissing(own, hintName(store, grant));
    });
  }

  /** Removes what hints a principal to a store, but for the hint of the grant that counts now. */
  remove(store: StoreId, principal: StoreId, present: StoreGrant | null): void {
    using folder = this.#open(principal);
    if (folder === null) return;
    const kept = present && hintName(store, present);
    for (const name of namesIn(folder.home)) {
      if (readHintName(name)?.store === store && name !== kept) removeIfThere(folder.home, name);
    }
    folder.removeIfEmpty();
  }

  /** What a principal leaves out, whether anything is granted or not; sorted. */
  leftBy(principal: StoreId): StoreId[] {
    using folder = this.#open(principal);
    return folder === null ? [] : leftIn(namesIn(folder.home)).toSorted();
  }

  /** What each principal leaves out. */
  leftOfAll(): Map<StoreId, StoreId[]> {
    const all = principalsIn(this.#root).map((each): [StoreId, StoreId[]] => [each, this.leftBy(each)]);
    return new Map(all.filter(([, stores]) => stores.length > 0));
  }

  /** Notes what a principal leaves out, also without a grant. */
  async leave(principal: StoreId, stores: readonly StoreId[]): Promise<void> {
    if (stores.length === 0) return;
    await this.#inFolder(principal, (own) => {
      for (const store of stores) createIfMissing(own, leftName(store));
    });
  }

  /** Notes what a principal leaves out no more. */
  async rejoin(principal: StoreId, stores: readonly StoreId[]): Promise<void> {
    using folder = stores.length === 0 ? null : this.#open(principal);
    if (folder === null) return;
    for (const store of stores) removeIfThere(folder.home, leftName(store));
    if (this.#isFlushed) await folder.flush();
    folder.removeIfEmpty();
  }

  /** Removes what hints a principal to others' stores, or others to the principal's, of grants up to a time. Durable. */
  async forget(principal: StoreId, untilMs: number): Promise<void> {
    for (const [at, each] of principalsIn(this.#root).entries()) {
      if (at % foldersAtOnce === 0) await setImmediate();
      using folder = this.#open(each);
      const names = folder === null ? [] : namesIn(folder.home);
      const ofGrants = each === principal ? names : names.filter((name) => storeIn(name) === principal);
      const forgotten = endedNames(ofGrants, untilMs);
      if (folder === null || forgotten.length === 0) continue;
      for (const name of forgotten) removeIfThere(folder.home, name);
      await folder.flush();
      folder.removeIfEmpty();
    }
  }

  #open(principal: StoreId): HomeFolder | null {
    return HomeFolder.open(this.#wayTo(principal));
  }

  #wayTo(principal: StoreId): Pick<FileHome, "root" | "names"> {
    return { root: this.#root, names: [storesFolder, grantedFolder, principal] };
  }

  /** Does work in a principal's folder, and again if somebody has just removed the folder because it was empty. */
  async #inFolder(principal: StoreId, work: (own: Directory) => void): Promise<void> {
    for (;;) {
      using folder = await HomeFolder.make(this.#wayTo(principal));
      try {
        work(folder.home);
        if (this.#isFlushed) await folder.flush();
      } catch (error) {
        if (folder.isNamed) throw error;
      }
      if (folder.isNamed) return;
    }
  }
}

const namesIn = (own: Directory): string[] =>
  own.entries().flatMap(({ name, kind }) => (kind === "file" ? [name] : []));

function hasEnded(name: string, nowMs: number): boolean {
  const hint = readHintName(name);
  return hint !== null && !isLive(hint, nowMs);
}

/** Another granter can be doing the same. */
function createIfMissing(own: Directory, name: string): void {
  try {
    own.create(name, new Uint8Array(), name);
  } catch (error) {
    if (systemCode((error as Error).cause) !== "EEXIST") throw error;
  }
}

function removeIfThere(own: Directory, name: string): void {
  try {
    own.remove(name);
  } catch (error) {
    if (!isMissing((error as Error).cause)) throw error;
  }
}

/** All principals that have a folder. */
function principalsIn(root: DataRoot): StoreId[] {
  using stores = openPlace(root, storesFolder);
  using granted = stores && stores.openFolder(grantedFolder);
  return granted?.entries().flatMap(({ name, kind }) => (kind === "folder" && isStoreId(name) ? [name] : [])) ?? [];
}

const leftSuffix = ".left";
const hintPattern = /^([^.]+)\.(\d{1,16})\.(never|\d{1,16})$/;

/** The names of empty files that are hints: `<store>.<granted>.<expires>`, with times in milliseconds, and `<store>.left`. */
const leftName = (store: StoreId): string => store + leftSuffix;

const hintName = (store: StoreId, { grantedMs, expiresMs }: GrantTimes): string =>
  `${store}.${grantedMs}.${expiresMs ?? "never"}`;

/** Returns what a name says about a grant; `null` if it is another name. */
function readHintName(name: string): (GrantTimes & { readonly store: StoreId }) | null {
  const [, store = "", granted, expires] = hintPattern.exec(name) ?? [];
  if (!isStoreId(store)) return null;
  return { store, grantedMs: Number(granted), expiresMs: expires === "never" ? null : Number(expires) };
}

/** Returns the store that a name is about; `null` if it is another name. */
function storeIn(name: string): StoreId | null {
  const [store = ""] = name.split(".", 1);
  if (!isStoreId(store)) return null;
  return name === leftName(store) || readHintName(name) !== null ? store : null;
}

/** The stores that are left out. */
const leftIn = (names: readonly string[]): StoreId[] =>
  names.flatMap((name) => {
    const store = storeIn(name);
    return store !== null && name === leftName(store) ? [store] : [];
  });

/** The names that are about grants up to a time, and those of stores that are left out and have granted nothing since. */
function endedNames(names: readonly string[], untilMs: number): string[] {
  const hints = names.flatMap((name) => readHintName(name) ?? []);
  const later = new Set(hints.flatMap(({ store, grantedMs }) => (grantedMs > untilMs ? [store] : [])));
  return names.filter((name) => {
    const [store, hint] = [storeIn(name), readHintName(name)];
    return store !== null && (hint === null ? !later.has(store) : hint.grantedMs <= untilMs);
  });
}

/** The oldest grants first. Of several hints of one store, which a crash can leave, the one that ends last counts. */
function readHintNames(names: readonly string[]): GrantHint[] {
  const present = new Set(names);
  const byStore = new Map<StoreId, GrantHint>();
  for (const name of names) {
    const hint = readHintName(name);
    if (hint === null || endOf(hint) < endOf(byStore.get(hint.store))) continue;
    byStore.set(hint.store, { ...hint, isLeft: present.has(leftName(hint.store)) });
  }
  return [...byStore.values()].toSorted(byAge);
}

const endOf = (times: GrantTimes | undefined): number => (times === undefined ? 0 : (times.expiresMs ?? Infinity));
