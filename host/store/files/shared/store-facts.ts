/** What can be said about a store's folder without its lock. */
import type { DataRoot } from "../../../disk/data-root.ts";
import { isStoreId, ownStoreOf } from "../../../values/store-id.ts";
import type { StoreId } from "../../../values/store-id.ts";
import type { UserId } from "../../../values/user-id.ts";
import { entriesScope } from "../../shared-stores.ts";
import type { StoreFinding } from "../../store.ts";
import { walFile } from "../commit/wal-names.ts";
import { HomeFolder } from "../home-folder.ts";
import { checkOwner, readCreator } from "../home-owner.ts";
import { storeHome, storesFolder } from "../home.ts";
import { strayFinding } from "../list-users.ts";

/**
 * Whether a store exists: a host has committed to it, or someone has put entries there by hand.
 */
export function hasStore(root: DataRoot, id: StoreId): boolean {
  using folder = HomeFolder.open(storeHome(root, id));
  if (folder === null) return false;
  return folder.home.identityOf(entriesScope) !== null || (folder.openOwn()?.identityOf(walFile) ?? null) !== null;
}

/** Returns the user whose own store a store is, so far as its id or its record tells; else `null`. */
export function ownerOf(root: DataRoot, id: StoreId): UserId | null {
  const byItsId = id as string as UserId;
  if (ownStoreOf(byItsId) === id) return byItsId;
  try {
    const creator = creatorOf(root, id);
    return creator !== null && ownStoreOf(creator) === id ? creator : null;
  } catch {
    return null;
  }
}

function creatorOf(root: DataRoot, id: StoreId): UserId | null {
  const home = storeHome(root, id);
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  return own !== null && checkOwner(own, home) ? readCreator(own) : null;
}

/** Returns the stores that exist. Skips folders that cannot be opened. */
export function listStores(root: DataRoot): StoreId[] {
  using data = root.open();
  using stores = data && data.openFolder(storesFolder);
  const folders = stores?.entries().filter(({ kind }) => kind === "folder") ?? [];
  return folders.flatMap(({ name }) => (isStoreId(name) && canSee(root, name) ? [name] : []));
}

/** What lies in the place of stores and is none. Names that begin with a dot are left to other programs. */
export function strayStores(root: DataRoot): StoreFinding[] {
  using data = root.open();
  using stores = data && data.openFolder(storesFolder);
  const others = stores?.entries().filter(({ name, kind }) => kind !== "file" && !name.startsWith(".")) ?? [];
  return others.flatMap(({ name, kind }) => {
    if (kind === "folder" && isStoreId(name)) return [];
    const why = kind === "folder" ? "its name is no store's id" : "it is neither a file nor a folder";
    return [strayFinding(storesFolder, name, why)];
  });
}

function canSee(root: DataRoot, id: StoreId): boolean {
  try {
    return hasStore(root, id);
  } catch {
    return false;
  }
}
