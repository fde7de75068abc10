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
import type { StagedRecord } from "../engine.ts";
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
    return folder === null ? [] : grantHints(hintsIn(folder.home));
  }

  /** Hints to a grant's grantee, and removes the hints of its ended grants. Throws `QUOTA_EXCEEDED`. */
  async add(store: StoreId, grant: StoreGrant, nowMs: number): Promise<void> {
    await this.#inFolder(grant.grantee, (own) => {
      const hints = hintsIn(own);
      checkRoom(grantHints(hints), store, nowMs);
      for (const { name, times } of hints) if (times && !isLive(times, nowMs)) removeIfThere(own, name);
      createIfMissing(own, hintName(store, grant));
    });
  }

  /** Removes what hints a principal to a store, but for the hint of the grant that counts now. */
  remove(store: StoreId, principal: StoreId, present: StoreGrant | null): void {
    using folder = this.#open(principal);
    if (folder === null) return;
    const kept = present && hintName(store, present);
    for (const hint of hintsIn(folder.home)) {
      if (hint.store === store && hint.times && hint.name !== kept) removeIfThere(folder.home, hint.name);
    }
    folder.removeIfEmpty();
  }

  /** What a principal leaves out, whether anything is granted or not; sorted. */
  leftBy(principal: StoreId): StoreId[] {
    using folder = this.#open(principal);
    const hints = folder === null ? [] : hintsIn(folder.home);
    return hints.flatMap(({ store, times }) => (times === null ? [store] : [])).toSorted();
  }

  /** The principals that leave out stores. */
  leaving(): StoreId[] {
    return principalsIn(this.#root).filter((each) => this.leftBy(each).length > 0);
  }

  /** Notes what a principal leaves out, also without a grant, or leaves out no more. Each counts for itself. */
  async note(principal: StoreId, records: readonly StagedRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.#inFolder(principal, (own) => {
      for (const { kind, name, text } of records) {
        if (kind !== "left" || !isStoreId(name)) continue;
        if (text === null) removeIfThere(own, leftName(name));
        else createIfMissing(own, leftName(name));
      }
    });
  }

  /** Removes what hints a principal to others' stores, or others to the principal's, of grants up to a time. Durable. */
  async forget(principal: StoreId, untilMs: number): Promise<void> {
    for (const [at, each] of principalsIn(this.#root).entries()) {
      if (at % foldersAtOnce === 0) await setImmediate();
      using folder = this.#open(each);
      if (folder === null) continue;
      const hints = hintsIn(folder.home).filter(({ store }) => each === principal || store === principal);
      const forgotten = ended(hints, untilMs);
      if (forgotten.length === 0) continue;
      for (const { name } of forgotten) removeIfThere(folder.home, name);
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
      if (folder.isNamed) return folder.removeIfEmpty();
    }
  }
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

/** An empty file: `<store>.<granted>.<expires>`, with times in milliseconds, or `<store>.left`. */
interface HintFile {
  readonly name: string;
  readonly store: StoreId;
  /** Of the grant; `null` if the principal leaves the store out. */
  readonly times: GrantTimes | null;
}

const leftName = (store: StoreId): string => `${store}.left`;

const hintName = (store: StoreId, { grantedMs, expiresMs }: GrantTimes): string =>
  `${store}.${grantedMs}.${expiresMs ?? "never"}`;

const hintPattern = /^([^.]+)\.(?:left|(\d{1,16})\.(never|\d{1,16}))$/;

/** The hints in a principal's folder. Other names are left alone. */
function hintsIn(own: Directory): HintFile[] {
  return own.entries().flatMap(({ name, kind }) => {
    const [, store = "", from, until] = hintPattern.exec(name) ?? [];
    if (kind !== "file" || !isStoreId(store)) return [];
    const times = from ? { grantedMs: Number(from), expiresMs: until === "never" ? null : Number(until) } : null;
    return [{ name, store, times }];
  });
}

/** Those about grants up to a time, and those of stores that are left out and have granted nothing since. */
function ended(hints: readonly HintFile[], untilMs: number): HintFile[] {
  const later = new Set(hints.flatMap(({ store, times }) => (times && times.grantedMs > untilMs ? [store] : [])));
  return hints.filter(({ store, times }) => (times ? times.grantedMs <= untilMs : !later.has(store)));
}

/** The oldest grants first. Of several hints of one store, which a crash can leave, the one that ends last counts. */
function grantHints(hints: readonly HintFile[]): GrantHint[] {
  const left = new Set(hints.flatMap(({ store, times }) => (times === null ? [store] : [])));
  const byStore = new Map<StoreId, GrantHint>();
  for (const { store, times } of hints) {
    if (times === null || endOf(times) < endOf(byStore.get(store))) continue;
    byStore.set(store, { store, ...times, isLeft: left.has(store) });
  }
  return [...byStore.values()].toSorted(byAge);
}

const endOf = (times: GrantTimes | undefined): number => (times === undefined ? 0 : (times.expiresMs ?? Infinity));
