/**
 * Hints to principals, as empty files `stores/.granted/<principal>/<hint>`: outside the principals' own stores, so that a
 * grant to anybody makes no store. A principal's folder goes with its last hint.
 */
import { setImmediate } from "node:timers/promises";

import type { DataRoot } from "../../../disk/data-root.ts";
import type { Directory } from "../../../disk/directory.ts";
import { isMissing, systemCode } from "../../../disk/disk-failure.ts";
import type { StoreGrant } from "../../../values/store-grant.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { checkRoom, isLive } from "../../grant-hints.ts";
import type { GrantHint } from "../../grant-hints.ts";
import { HintFolder } from "./hint-folder.ts";
import { endedNames, hintName, leftIn, leftName, readHintName, readHintNames, storeIn } from "./hint-names.ts";

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
    using folder = HintFolder.open(this.#root, principal);
    return folder === null ? [] : readHintNames(namesIn(folder.own));
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
    using folder = HintFolder.open(this.#root, principal);
    if (folder === null) return;
    const kept = present && hintName(store, present);
    for (const name of namesIn(folder.own)) {
      if (readHintName(name)?.store === store && name !== kept) removeIfThere(folder.own, name);
    }
    folder.removeIfEmpty();
  }

  /** Returns whether that changed anything. */
  async leave(principal: StoreId, store: StoreId, isLeft: boolean): Promise<boolean> {
    const name = leftName(store);
    if (!isLeft) {
      using folder = HintFolder.open(this.#root, principal);
      if (folder === null || folder.own.identityOf(name) === null) return false;
      removeIfThere(folder.own, name);
      folder.removeIfEmpty();
      return true;
    }
    if (this.list(principal).every((each) => each.store !== store || each.isLeft)) return false;
    await this.#inFolder(principal, (own) => createIfMissing(own, name));
    return true;
  }

  /** What each principal leaves out, whether anything is granted or not. */
  leftOfAll(): Map<StoreId, StoreId[]> {
    const all = HintFolder.principals(this.#root).map((principal): [StoreId, StoreId[]] => {
      using folder = HintFolder.open(this.#root, principal);
      return [principal, folder === null ? [] : leftIn(namesIn(folder.own))];
    });
    return new Map(all.filter(([, stores]) => stores.length > 0));
  }

  /** Notes what a principal leaves out, also without a grant. */
  async leaveAll(principal: StoreId, stores: readonly StoreId[]): Promise<void> {
    if (stores.length === 0) return;
    await this.#inFolder(principal, (own) => {
      for (const store of stores) createIfMissing(own, leftName(store));
    });
  }

  /** Removes what hints a principal to others' stores, or others to the principal's, of grants up to a time. Durable. */
  async forget(principal: StoreId, untilMs: number): Promise<void> {
    for (const [at, each] of HintFolder.principals(this.#root).entries()) {
      if (at % foldersAtOnce === 0) await setImmediate();
      using folder = HintFolder.open(this.#root, each);
      const names = folder === null ? [] : namesIn(folder.own);
      const ofGrants = each === principal ? names : names.filter((name) => storeIn(name) === principal);
      const forgotten = endedNames(ofGrants, untilMs);
      if (folder === null || forgotten.length === 0) continue;
      for (const name of forgotten) removeIfThere(folder.own, name);
      await folder.flush();
      folder.removeIfEmpty();
    }
  }

  /** Does work in a principal's folder, and again if somebody has just removed the folder because it was empty. */
  async #inFolder(principal: StoreId, work: (own: Directory) => void): Promise<void> {
    for (;;) {
      using folder = await HintFolder.make(this.#root, principal);
      try {
        work(folder.own);
        if (this.#isFlushed) await folder.flush();
      } catch (error) {
        if (folder.isThere) throw error;
      }
      if (folder.isThere) return;
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
