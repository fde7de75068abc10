import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import { checkUserId } from "../../values/user-id.ts";
import type { UserId } from "../../values/user-id.ts";
import type { StoreFinding } from "../store.ts";
import { hostFolder, usersFolder } from "./home.ts";
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
export const strayFinding = (folder: string, name: string, message: string): StoreFinding => ({
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
    const owner = kind === "folder" ? ownerOf(users, name) : { userId: null, why: "it is neither a file nor a folder" };
    return [{ name, owner }];
  });
}

function ownerOf(users: Directory, name: string): Owner {
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
