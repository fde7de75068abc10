/** What can be said of homes without their locks: which there are, and whose. */
import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import { isStoreId, ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import { checkUserId } from "../../values/user-id.ts";
import type { UserId } from "../../values/user-id.ts";
import type { StoreFinding } from "../holding.ts";
import { entriesScope, storeHome } from "../home.ts";
import { walFile } from "./commit/wal-format.ts";
import { HomeFolder } from "./home-folder.ts";
import { checkOwner, readCreator } from "./home-owner.ts";
import { fileHome, hostFolder, storesFolder, usersFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { userFolderName } from "./user-folder-name.ts";

/** Lists the users who have a folder, by its owner record or else by its name. Skips folders that are no user's. */
export function listUsers(root: DataRoot): UserId[] {
  return usersIn(root).flatMap(({ owner }) => (owner.userId === null ? [] : [owner.userId]));
}

/** The folders in the place of users' that are no user's. Names that begin with a dot are left to other programs. */
export function strayFolders(root: DataRoot): StoreFinding[] {
  return usersIn(root).flatMap(({ name, owner }) =>
    owner.userId === null && !name.startsWith(".") ? [strayFinding(usersFolder, name, owner.why)] : [],
  );
}

/** A folder that no operation reaches, because it cannot be said whose it is. */
const strayFinding = (folder: string, name: string, message: string): StoreFinding => ({
  code: "stray-folder",
  path: JSON.stringify(`${folder}/${name}`).slice(1, -1),
  message,
  remedy: null,
});

type Owner = { readonly userId: UserId } | { readonly userId: null; readonly why: string };

function usersIn(root: DataRoot): { readonly name: string; readonly owner: Owner }[] {
  using data = root.open();
  using users = data && data.openFolder(usersFolder);
  if (users === null) return [];
  return users.entries().flatMap(({ name, kind }) => {
    if (kind === "file") return [];
    const owner = kind === "folder" ? ownerIn(users, name) : { userId: null, why: "it is neither a file nor a folder" };
    return [{ name, owner }];
  });
}

function ownerIn(users: Directory, name: string): Owner {
  let recorded: string | undefined;
  try {
    using folder = users.openFolder(name);
    using own = folder && folder.openFolder(hostFolder);
    recorded = own?.read("owner", "owner")?.toString("utf8");
  } catch {
    // The record or its folder cannot be read: try the folder's name.
  }
  const [userId, what] = recorded
    ? [idOf(recorded, name), `its record of the owner, ${hostFolder}/owner,`]
    : [idFromName(name), "its name"];
  return userId === null ? { userId, why: `${what} names no user whose folder this is` } : { userId };
}

function idFromName(name: string): UserId | null {
  try {
    return idOf(decodeURIComponent(name), name);
  } catch {
    // Not our percent-encoding.
    return null;
  }
}

/** `null` if the text is not a user id, or that user has another folder. */
function idOf(text: string, folderName: string): UserId | null {
  try {
    const userId = checkUserId(text);
    return userFolderName(userId) === folderName ? userId : null;
  } catch {
    return null;
  }
}

/**
 * Whether a store exists: a host has committed to it, or someone has put entries there by hand.
 */
export function hasStore(home: FileHome): boolean {
  using folder = HomeFolder.open(home);
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
  const home = fileHome(storeHome(id), root);
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
    return hasStore(fileHome(storeHome(id), root));
  } catch {
    return false;
  }
}
