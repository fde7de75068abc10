/** What can be said of homes without their locks: which there are, and whose. */
import type { Directory, DirectoryEntry } from "../../disk/directory.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import { checkUserId, isStoreId } from "../../values/ids.ts";
import type { StoreId, UserId } from "../../values/ids.ts";
import { entriesScope, storeHome } from "../home.ts";
import type { StoreFinding } from "../reading.ts";
import { checkOwner, readCreator } from "./home-owner.ts";
import { fileHome, hostFolder, storesFolder, userFolderName, userFolderNames, usersFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { journalFolder } from "./journal/segments.ts";
import { HomeFolder, openPlace } from "./scope-folders.ts";

/** Lists the users who have a folder, by its owner record or else by its name. Skips folders that are no user's. */
export const listUsers = (root: DataRoot): UserId[] => usersIn(root).flatMap(({ userId }) => userId ?? []);

/** Returns the stores that exist. Skips folders that cannot be opened. */
export function listStores(root: DataRoot): StoreId[] {
  using stores = openPlace(root, storesFolder);
  const folders = stores?.entries().filter(({ kind }) => kind === "folder") ?? [];
  return folders.flatMap(({ name }) => (isStoreId(name) && canSee(root, name) ? [name] : []));
}

function canSee(root: DataRoot, id: StoreId): boolean {
  try {
    return hasStore(fileHome(storeHome(id), root));
  } catch {
    return false;
  }
}

/** Whether a store exists: a host has committed to it, or someone has put entries there by hand. */
export function hasStore(home: FileHome): boolean {
  using folder = HomeFolder.open(home);
  if (folder === null) return false;
  return (
    folder.home.identityOf(entriesScope) !== null || (folder.openOwn()?.identityOf(journalFolder) ?? null) !== null
  );
}

/** What lies in the place of homes and is none, so that no operation reaches it. Names with a dot in front are others'. */
export function listStrays(root: DataRoot): StoreFinding[] {
  using stores = openPlace(root, storesFolder);
  const noStores = (stores?.entries() ?? []).flatMap(({ name, kind }) => {
    if (kind === "file" || (kind === "folder" && isStoreId(name))) return [];
    return [{ place: storesFolder, name, why: kind === "folder" ? "its name is no store's id" : noFolder }];
  });
  const noUsers = usersIn(root).flatMap(({ userId, ...stray }) => (userId === null ? [stray] : []));
  const strays = [...noUsers, ...noStores].filter(({ name }) => !name.startsWith("."));
  return strays.map(({ place, name, why }) => ({
    code: "stray-folder",
    path: JSON.stringify(`${place}/${name}`).slice(1, -1),
    message: why,
    remedy: null,
  }));
}

const sameUser = "its user has another folder, whose name is the same text in Unicode's form NFC: move its files there";
const noFolder = "it is neither a file nor a folder";

/** What lies in the place of users' folders. `why`: if it is no user's. */
interface FoundUser {
  readonly place: string;
  readonly name: string;
  readonly userId: UserId | null;
  readonly why: string;
}

function usersIn(root: DataRoot): FoundUser[] {
  using users = openPlace(root, usersFolder);
  if (users === null) return [];
  const found = users.entries().flatMap((entry) => (entry.kind === "file" ? [] : [userIn(users, entry)]));
  const names = new Set(found.map(({ name }) => name));
  const isOlder = ({ name, userId }: FoundUser): boolean =>
    userId !== null && userFolderNames(userId)[0] !== name && names.has(userFolderName(userId));
  return found.map((each) => (isOlder(each) ? Object.assign({}, each, { userId: null, why: sameUser }) : each));
}

function userIn(users: Directory, { name, kind }: DirectoryEntry): FoundUser {
  const found = { place: usersFolder, name };
  if (kind !== "folder") return { ...found, userId: null, why: noFolder };
  const recorded = recordedIn(users, name);
  const what = recorded === null ? "its name" : `its record of the owner, ${hostFolder}/owner,`;
  return { ...found, userId: idOf(recorded, name), why: `${what} names no user whose folder this is` };
}

/** `null` if the record or its folder cannot be read: then the folder's name tells. */
function recordedIn(users: Directory, name: string): string | null {
  try {
    using folder = users.openFolder(name);
    using own = folder && folder.openFolder(hostFolder);
    return own?.read("owner", "owner")?.toString("utf8") || null;
  } catch {
    return null;
  }
}

/** `null` if neither record nor name is of a user who has this folder. The name is percent-encoded. */
function idOf(recorded: string | null, folderName: string): UserId | null {
  try {
    const userId = checkUserId(recorded ?? decodeURIComponent(folderName));
    return userFolderNames(userId).includes(folderName) ? userId : null;
  } catch {
    return null;
  }
}

/** Returns the user whose own store a store is, so far as its record tells; else `null`. */
export function ownerOf(root: DataRoot, id: StoreId): UserId | null {
  try {
    const home = fileHome(storeHome(id), root);
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    return own !== null && checkOwner(own, home) ? readCreator(own, home) : null;
  } catch {
    return null;
  }
}
